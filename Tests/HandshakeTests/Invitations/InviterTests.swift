import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import TestSupport
import Testing

@Suite("12 The inviter", .computing)
struct InviterTests {
    private let id = [UInt8](repeating: 3, count: Invite.idByteCount)

    private func candidate(_ last: UInt8, port: UInt16 = 49_152) throws -> Candidate {
        try #require(Candidate(address: [192, 0, 2, last], port: port))
    }

    private func inviter(
        at candidates: [Candidate], within timeout: Duration = .seconds(30), context: [UInt8]? = nil
    ) throws -> Inviter {
        try Inviter(
            .numbered(0), at: candidates, as: .numbered(1), context: context, within: timeout, id: id,
            seed: 5, at: .start)
    }

    private func dialled(_ inviter: inout Inviter) -> [ConnectionID] {
        inviter.takeActions().compactMap { if case .dial(let id, _) = $0 { id } else { nil } }
    }

    @Test("arguments outside their ranges are errors of the caller [invite.timeout] [invite.context]")
    func ranges() throws {
        let one = [try candidate(1)]
        for timeout in [Duration.zero, .seconds(-1), .milliseconds(600_001), .seconds(601)] {
            #expect(throws: InvitationFault.self) { try inviter(at: one, within: timeout) }
        }
        #expect(throws: InvitationFault.self) {
            try inviter(at: one, context: [UInt8](repeating: 0, count: 32_769))
        }
        #expect(throws: InvitationFault.self) {
            try Inviter(
                .numbered(1), at: one, as: .numbered(1), context: nil, within: .seconds(30), id: id, seed: 1,
                at: .start)
        }
    }

    @Test("addresses that must not be dialled are not, except loopback [dial.forbidden]")
    func forbidden() throws {
        let bytes: [([UInt8], UInt16)] = [
            ([0, 0, 0, 0], 5_000), ([224, 0, 0, 1], 5_000), ([255, 255, 255, 255], 5_000),
            ([192, 0, 2, 1], 1_023), ([UInt8](repeating: 0, count: 16), 5_000),
        ]
        let forbidden = try bytes.map { try #require(Candidate(address: $0.0, port: $0.1)) }
        var nowhere = try inviter(at: forbidden)
        guard case .tell(.end(.failure(.unreachable)))? = nowhere.takeActions().first else {
            Issue.record("something was dialled")
            return
        }
        let loopback = try #require(Candidate(address: [127, 0, 0, 1], port: 5_000))
        var near = try inviter(at: forbidden + [loopback])
        #expect(near.takeActions() == [.dial(ConnectionID(rawValue: 1), loopback)])
    }

    @Test("a second address is tried after 250 ms, and the first that connects is used [invite.connections]")
    func eyeballs() throws {
        var inviter = try inviter(at: [try candidate(1), try candidate(2), try candidate(3)])
        let first = try #require(dialled(&inviter).first)
        #expect(inviter.deadline == .after(.milliseconds(250)))
        inviter.advance(to: .after(.milliseconds(250)))
        let second = try #require(dialled(&inviter).first)
        inviter.secured(second, at: .after(.milliseconds(300)))
        let actions = inviter.takeActions()
        #expect(actions.contains(.close(first, .cancelled)))
        #expect(actions.count == 2)
        #expect(inviter.phase == .asking(second))
        inviter.advance(to: .after(.seconds(2)))
        #expect(inviter.takeActions().isEmpty)
    }

    @Test("INVITE has the remaining time, rounded up [invite.timeout]")
    func remaining() throws {
        var inviter = try inviter(at: [try candidate(1)])
        let connection = try #require(dialled(&inviter).first)
        inviter.secured(connection, at: .after(.milliseconds(4_400)))
        guard case .send(_, let frame)? = inviter.takeActions().last else {
            Issue.record("nothing was said")
            return
        }
        let header = FrameHeader(frame.span.extracting(0..<FrameHeader.byteCount))
        guard case .invite(let invite) = try Frame(header, Array(frame.dropFirst(8)).span) else {
            Issue.record("something else was said")
            return
        }
        #expect(invite.timeout == 26)
    }

    @Test("after BUSY it waits for 250 ms, then twice as long each time up to 4 s, ± 50 % [invite.busy]")
    func busy() throws {
        var inviter = try inviter(at: [try candidate(1)], within: .seconds(600))
        var now = Moment.start
        var connection = try #require(dialled(&inviter).first)
        for pause in [0.25, 0.5, 1, 2, 4, 4, 4] {
            inviter.secured(connection, at: now)
            answer(&inviter, connection, .busy, at: now)
            let asked = now
            _ = inviter.takeActions()
            now = try #require(inviter.deadline)
            let waited = Double((now - asked).wholeNanoseconds) / 1e9
            #expect(waited >= pause / 2 - 1e-6 && waited <= pause * 1.5 + 1e-6, "\(pause)")
            inviter.advance(to: now)
            connection = try #require(dialled(&inviter).first)
        }
    }

    @Test(
        "a peer that is busy until the timeout gives busy, and a silent one a timeout [invite.busy] [invite.timeout]"
    )
    func outOfTime() throws {
        for isBusy in [true, false] {
            var inviter = try inviter(at: [try candidate(1)], within: .seconds(2))
            let connection = try #require(dialled(&inviter).first)
            inviter.secured(connection, at: .after(.milliseconds(1_990)))
            if isBusy { answer(&inviter, connection, .busy, at: .after(.milliseconds(1_990))) }
            _ = inviter.takeActions()
            inviter.advance(to: .after(.seconds(2)))
            let actions = inviter.takeActions()
            #expect(actions.last == .tell(.end(.failure(isBusy ? .busy : .timedOut))))
            // An answer that comes now is ignored.
            answer(&inviter, connection, .declined, at: .after(.seconds(3)))
            #expect(inviter.takeActions().isEmpty)
        }
    }

    @Test(
        "a connection that is lost before the answer is made again; if that fails, the invitation fails [invite.busy]"
    )
    func lost() throws {
        var inviter = try inviter(at: [try candidate(1)])
        let connection = try #require(dialled(&inviter).first)
        inviter.secured(connection, at: .start)
        inviter.lost(connection, .lost, at: .after(.seconds(1)))
        #expect(inviter.phase == .connecting)
        _ = inviter.takeActions()
        inviter.advance(to: .after(.seconds(2)))
        let second = try #require(dialled(&inviter).first)
        inviter.lost(second, .unreachable("refused"), at: .after(.seconds(2)))
        #expect(inviter.takeActions() == [.tell(.end(.failure(.unreachable("192.0.2.1:49152: refused"))))])
    }

    @Test(
        "an invitation whose time ends before any address has answered names what was tried [invite.timeout]")
    func silence() throws {
        var inviter = try inviter(at: [try candidate(1)], within: .seconds(3))
        _ = try #require(dialled(&inviter).first)
        inviter.advance(to: .after(.seconds(3)))
        let fault = InvitationFault.unreachable("192.0.2.1:49152: no answer")
        #expect(inviter.takeActions().last == .tell(.end(.failure(fault))))
    }

    @Test("an invitation whose connection is lost again and again fails [invite.busy]")
    func losses() throws {
        var inviter = try inviter(at: [try candidate(1)], within: .seconds(600))
        var now = Moment.start
        for count in 1...6 {
            let connection = try #require(dialled(&inviter).first)
            inviter.secured(connection, at: now)
            inviter.lost(connection, .lost, at: now)
            guard count < 6 else { break }
            _ = inviter.takeActions()
            now = try #require(inviter.deadline)
            inviter.advance(to: now)
        }
        guard case .tell(.end(.failure(.unreachable)))? = inviter.takeActions().last else {
            Issue.record("it goes on")
            return
        }
    }

    @Test("when another peer answers, the other addresses are tried [invite.recipient]")
    func elsewhere() throws {
        let (wrong, right) = (try candidate(1), try candidate(2))
        var inviter = try inviter(at: [wrong, right])
        let connection = try #require(dialled(&inviter).first)
        inviter.secured(connection, at: .start)
        answer(&inviter, connection, .unknownPeer, at: .start)
        #expect(inviter.takeActions().last == .dial(ConnectionID(rawValue: 2), right))
    }

    @Test(
        "without a uid the invited peer is the one that answers, and a keyed one has to be proven [invite.address]"
    )
    func address() throws {
        let ann = try PeerID.numbered(1)
        let keyed = try #require(UID.keyed([UInt8](repeating: 1, count: 16)))
        let other = try #require(UID.keyed([UInt8](repeating: 2, count: 16)))
        for (uid, proven, isAccepted) in [
            (UID(high: 1, low: 2), nil, true), (keyed, keyed, true), (keyed, nil, false),
            (keyed, other, false),
        ] as [(UID, UID?, Bool)] {
            let bob = try PeerID(validating: uid, displayName: "bob")
            var inviter = try Inviter(
                nil, at: [try candidate(1)], as: ann, context: nil, within: .seconds(30), id: id, seed: 5,
                at: .start)
            let connection = try #require(dialled(&inviter).first)
            inviter.secured(connection, keyedUID: proven, at: .start)
            let sent = inviter.takeActions().compactMap {
                if case .send(_, let frame) = $0 { frame } else { nil }
            }
            #expect(
                sent.first.map { Array($0.suffix(8 + 20).prefix(20)) } == [0, 3, 0, 16]
                    + [UInt8](repeating: 0, count: 16))
            #expect(inviter.peer == nil)
            answer(&inviter, connection, .ok, try bob.made(for: ann).bytes, at: .start)
            let actions = inviter.takeActions()
            let wantsData = actions.contains(.tell(.makeData))
            let ended = actions.filter { if case .tell(.end) = $0 { true } else { false } }
            #expect(wantsData == isAccepted, "\(uid) \(String(describing: proven)) \(inviter.phase)")
            #expect(inviter.peer == (isAccepted ? bob : nil))
            guard isAccepted else {
                let fault = InvitationFault.unreachable("the peer has not proven its id")
                #expect(inviter.phase == .over && ended == [.tell(.end(.failure(fault)))])
                continue
            }
            inviter.supply(try ann.made(for: bob), at: .start)
            #expect(inviter.takeActions().contains(.tell(.end(.success(try bob.made(for: ann))))))
        }
    }

    @Test("a peer that has not proven the digits of an id is not sent the context [invite.address]")
    func digits() throws {
        let ann = try PeerID.numbered(1)
        let keyed = try #require(UID.keyed([UInt8](repeating: 0x1F, count: 16)))
        let other = try #require(UID.keyed([UInt8](repeating: 2, count: 16)))
        let random = UID(high: 0x1F1F << 48, low: 1)
        for (proven, uid, isAsked, isAccepted) in [
            (keyed, keyed, true, true), (other, keyed, false, false), (nil, random, false, false),
            (other, random, false, false), (keyed, random, true, false),
        ] as [(UID?, UID, Bool, Bool)] {
            let bob = try PeerID(validating: uid, displayName: "bob")
            var inviter = try Inviter(
                nil, at: [try candidate(1), try candidate(2)], as: ann, context: [7], within: .seconds(30),
                proving: UIDPrefix("1f1F1f"), id: id, seed: 5, at: .start)
            let connection = try #require(dialled(&inviter).first)
            inviter.secured(connection, keyedUID: proven, at: .start)
            let actions = inviter.takeActions()
            #expect(actions.contains { if case .send = $0 { true } else { false } } == isAsked)
            guard isAsked else {
                #expect(actions.contains(.close(connection, .cancelled)))
                #expect(actions.last == .dial(ConnectionID(rawValue: 2), try candidate(2)))
                continue
            }
            answer(&inviter, connection, .ok, try bob.made(for: ann).bytes, at: .start)
            #expect(inviter.takeActions().contains(.tell(.makeData)) == isAccepted)
        }
        for wrong in ["", "1g", String(repeating: "1", count: 33)] { #expect(UIDPrefix(wrong) == nil) }
    }

    @Test("every code has a meaning for the inviter")
    func codes() {
        let known: [CloseCode: InvitationFault] = [
            .declined: .declined, .busy: .busy, .full: .full, .policy: .incompatible, .timeout: .timedOut,
            .cancelled: .cancelled, .goodbye: .cancelled, .duplicate: .replaced,
        ]
        for (code, fault) in known { #expect(InvitationFault(code) == fault) }
        let odd = CloseCode(rawValue: 999)
        #expect(InvitationFault(odd) == .refused(odd))
    }

    private func answer(
        _ inviter: inout Inviter, _ connection: ConnectionID, _ code: CloseCode, _ data: [UInt8]? = nil,
        at now: Moment
    ) {
        var buffer = ByteBuffer()
        Frame.answer(Answer(id: id, code: code, connectionData: data)).encode(into: &buffer)
        let bytes = buffer.takeAll()
        let header = FrameHeader(bytes.span.extracting(0..<FrameHeader.byteCount))
        inviter.receive(connection, header, Array(bytes.dropFirst(FrameHeader.byteCount)).span, at: now)
    }
}
