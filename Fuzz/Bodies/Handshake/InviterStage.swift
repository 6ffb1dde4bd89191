import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerSecurity

/// An inviter, and a network and a peer that do anything.
struct InviterStage {
    private let cast: InvitationFixture
    private var inviter: Inviter
    private var now = Moment(nanoseconds: 1_000_000_000)
    private let id: [UInt8]
    /// The connections that were dialled and have not ended, and whether INVITE was sent on them.
    private var lines: [ConnectionID: Bool] = [:]
    private var outcome: Result<ConnectionData, InvitationFault>?
    private var isAsked = false
    private var isSupplied = false

    init?(_ cast: InvitationFixture, seed: UInt8) {
        self.cast = cast
        id = [UInt8](repeating: seed & 3, count: 16)
        let addresses = (1...UInt8(1 + seed % 6)).map { Candidate(address: [192, 0, 2, $0], port: 5_000) }
        do throws(InvitationFault) {
            inviter = try Inviter(
                cast.peers[1], at: addresses.compactMap { $0 }, as: cast.peers[0], context: nil,
                within: seed & 8 == 0 ? .seconds(30) : .seconds(600), id: id, seed: UInt64(seed), at: now)
        } catch {
            return nil
        }
    }

    mutating func step(_ input: inout InputReader) throws(BrokenPromise) {
        try judge()
        let choice = input.byte()
        switch choice & 15 {
        case 0, 1: if let id = line(&input) { inviter.secured(id, at: now) }
        case 2: if let id = line(&input) { inviter.connected(id, at: now) }
        case 3, 4: lose(&input)
        case 5, 6, 7: answer(&input)
        case 8: receive(input.anyFrame(), on: line(&input))
        case 9:
            let code = CloseCode(rawValue: UInt16(input.byte()))
            receive(InvitationFixture.frame(.close(code, reason: "")), on: line(&input))
        case 10: supply(&input)
        case 11: if choice & 0x70 == 0 { inviter.failed(.system("no data"), at: now) }
        case 12: if choice & 0xF0 == 0xF0 { inviter.cancel(at: now) }
        case 13: pass(now + input.duration())
        case 14: pass(max(now, inviter.deadline ?? now))
        default: if let id = line(&input), choice & 0x10 == 0 { inviter.violated(id, .flood, at: now) }
        }
        try judge()
    }

    /// Checks that the invitation ends by itself when nothing more happens.
    mutating func settle() throws(BrokenPromise) {
        for _ in 0..<4_000 {
            try judge()
            guard let deadline = inviter.deadline else { break }
            pass(deadline)
        }
        try judge()
        try promise(outcome != nil && inviter.phase == .over, "the invitation has no outcome")
        try promise(lines.isEmpty, "a connection was forgotten")
    }
}

// MARK: what happens

extension InviterStage {
    private func line(_ input: inout InputReader) -> ConnectionID? {
        let (ids, choice) = (lines.keys.sorted(), Int(input.byte()))
        return ids.isEmpty ? nil : ids[choice % ids.count]
    }

    private mutating func lose(_ input: inout InputReader) {
        guard let id = line(&input) else { return }
        lines[id] = nil
        let setbacks: [ConnectionFailure] = [
            .lost, .unreachable("refused"), .security(.peer(.noCommonProtocol)), .lost,
        ]
        inviter.lost(id, setbacks[Int(input.byte() & 3)], at: now)
    }

    private mutating func answer(_ input: inout InputReader) {
        let (shape, choice) = (input.byte(), input.byte())
        let codes: [CloseCode] = [.ok, .ok, .busy, .declined, .unknownPeer, .full, .busy, .policy]
        let blobs = cast.blobs[choice & 0xC0 == 0 ? Int(choice) % cast.blobs.count : 1]
        let data = blobs[Int(shape >> 5) % blobs.count]
        let code = codes[Int(shape & 7)]
        let answer = Answer(
            id: shape & 0x18 == 0 ? [UInt8](repeating: 9, count: 16) : id, code: code,
            connectionData: (code == .ok) != (choice & 0x3F == 0x3F) ? data.bytes : nil)
        receive(InvitationFixture.frame(.answer(answer)), on: line(&input))
    }

    private mutating func receive(_ frame: [UInt8], on id: ConnectionID?) {
        // Before TLS is established there are no frames.
        guard let id, lines[id] == true else { return }
        let header = FrameHeader(frame.span.extracting(0..<FrameHeader.byteCount))
        inviter.receive(id, header, Array(frame.dropFirst(FrameHeader.byteCount)).span, at: now)
    }

    private mutating func supply(_ input: inout InputReader) {
        let own = cast.blobs[0]
        isSupplied = isAsked
        inviter.supply(own[Int(input.byte()) % own.count], at: now)
    }

    private mutating func pass(_ moment: Moment) {
        now = moment
        inviter.advance(to: now)
    }
}

// MARK: what follows

extension InviterStage {
    private mutating func judge() throws(BrokenPromise) {
        for action in inviter.takeActions() {
            try promise(outcome == nil, "something follows the outcome")
            switch action {
            case .dial(let id, _):
                try promise(lines[id] == nil, "a connection has the number of another")
                lines[id] = false
                try promise(lines.count <= 4, "too many are dialled at once")
            case .send(let id, let frame): try judge(frame, on: id)
            case .close(let id, _):
                try promise(lines.removeValue(forKey: id) != nil, "a connection is closed twice")
            case .tell(.makeData):
                try promise(!isAsked, "the application is asked twice")
                isAsked = true
            case .tell(.end(let result)): try judge(result)
            }
        }
        try promise(inviter.takeActions().isEmpty, "actions are taken twice")
        try promise(inviter.deadline.map { now < $0 } ?? true, "the deadline does not move on")
        try promise(
            (inviter.deadline == nil) == (outcome != nil),
            "there is no deadline before the end, or there is one after it")
    }

    private mutating func judge(_ bytes: [UInt8], on id: ConnectionID) throws(BrokenPromise) {
        let header = FrameHeader(bytes.span.extracting(0..<FrameHeader.byteCount))
        guard let frame = try? Frame(header, Array(bytes.dropFirst(FrameHeader.byteCount)).span) else {
            throw BrokenPromise(description: "the data sent is not a frame")
        }
        switch frame {
        case .invite(let invite):
            try promise(lines[id] == false, "INVITE twice on a connection, or on none")
            try promise((1...600).contains(invite.timeout), "the timeout is invalid")
            try promise(lines.count == 1, "the other connections are not closed")
            lines[id] = true
        case .complete:
            try promise(lines[id] == true && isAsked && isSupplied, "data was sent before the answer")
        default: throw BrokenPromise(description: "a frame that an inviter does not send")
        }
    }

    private mutating func judge(
        _ result: Result<ConnectionData, InvitationFault>
    ) throws(BrokenPromise) {
        outcome = result
        guard case .success(let data) = result else { return }
        try promise(isAsked && isSupplied, "success before the end")
        try promise(data.peer == cast.peers[1], "the data is another peer's")
        try promise(
            data.recipient == nil || data.recipient == cast.peers[0].uid, "the data is for another")
    }
}
