import Multipeer
import MultipeerCore
import MultipeerEngine
import MultipeerFraming
import MultipeerMesh
import MultipeerTransport
import TestSupport
import Testing

@Suite("13 Verification codes over loopback", .inTurns)
struct VerificationTests {
    @Test(
        "each user gets the digits that the other types, once both have asked, and the same again [sas.role] [sas.value] [sas.once]"
    )
    func same() async throws {
        let meeting = try Meeting()
        try await meeting.link()
        let code = try await within { try await meeting.expectCode() }
        #expect(code.utf8.count == 12 && code.allSatisfy { $0.isASCII && $0.isNumber })
        for _ in 0..<2 {
            #expect(try await meeting.ann.verificationCode(for: meeting.bob.peer).code == code)
            #expect(try await meeting.bob.verificationCode(for: meeting.ann.peer).code == code)
        }
        try await within { try await meeting.expectTalk() }
        await meeting.end()
    }

    @Test("there is no code before both have asked: the other side is notified, once [sas.requested]")
    func asked() async throws {
        // Once the lower uid asks first, once the higher.
        for annFirst in [true, false] {
            let meeting = try Meeting.annFirst()
            try await meeting.link()
            let first = annFirst ? meeting.ann : meeting.bob
            let second = annFirst ? meeting.bob : meeting.ann
            let code = Locked<String?>(nil)
            let asking = Task {
                let made = try await first.verificationCode(for: second.peer).code
                code.withLock { $0 = made }
                return made
            }
            try await within { await second.expectRequest(of: first.peer) }
            // An answer of the second would have come before what it sends now.
            try await within { try await meeting.expectTalk() }
            #expect(code.withLock { $0 } == nil)
            let theirs = try await within { try await second.verificationCode(for: first.peer).code }
            #expect(try await within { try await asking.value } == theirs)
            await meeting.end()
            for session in [first, second] {
                for await event in session.events {
                    if case .verificationRequested = event { Issue.record("told twice, or who asked first") }
                    if case .peer(_, .notConnected) = event { break }
                }
            }
        }
    }

    @Test("a cancelled caller stops waiting, and the run continues [sas.wait] [sas.once]")
    func cancelled() async throws {
        let meeting = try Meeting()
        let (ann, bob) = (meeting.ann, meeting.bob)
        try await meeting.link()
        let asking = Task { try await ann.verificationCode(for: bob.peer) }
        try await within { await bob.expectRequest(of: ann.peer) }
        asking.cancel()
        let error = await #expect(throws: MultipeerError.self) { try await asking.value }
        #expect(error?.code == .cancelled)
        let code = try await within { try await bob.verificationCode(for: ann.peer).code }
        #expect(try await within { try await ann.verificationCode(for: bob.peer).code } == code)
        await meeting.end()
    }

    @Test("several callers at the same time get the one code of the link [sas.once]")
    func several() async throws {
        let meeting = try Meeting()
        try await meeting.link()
        let codes = try await within {
            try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<20 {
                    group.addTask { try await meeting.ann.verificationCode(for: meeting.bob.peer).code }
                    group.addTask { try await meeting.bob.verificationCode(for: meeting.ann.peer).code }
                }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
        }
        #expect(codes.count == 1)
        await meeting.end()
    }

    /// With pinned keys there can be no man in the middle between two peers whose connection data arrived unchanged. Where
    /// the data came through the man in the middle, too, it has a link with each of them, and uses the other's name.
    @Test("with a man in the middle there are two links, whose codes differ [sas.value]")
    func middle() async throws {
        let configuration = Session.Configuration.loopback()
        let ann = try Session(peer: PeerID(displayName: "ann"), configuration: configuration)
        let bob = try Session(peer: PeerID(displayName: "bob"), configuration: configuration)
        let asBob = try Session(peer: PeerID(displayName: "bob"), configuration: configuration)
        let asAnn = try Session(peer: PeerID(displayName: "ann"), configuration: configuration)
        for (one, other) in [(ann, asBob), (asAnn, bob)] {
            let (data, others) = (try await one.connectionData(), try await other.connectionData())
            async let first: Void = one.connect(with: others)
            async let second: Void = other.connect(with: data)
            _ = try await (first, second)
        }
        let codes = try await within {
            async let anns = ann.verificationCode(for: asBob.peer)
            async let bobs = bob.verificationCode(for: asAnn.peer)
            async let asBobs = asBob.verificationCode(for: ann.peer)
            async let asAnns = asAnn.verificationCode(for: bob.peer)
            return try await [anns, asBobs, bobs, asAnns].map(\.code)
        }
        #expect(codes[0] == codes[1] && codes[2] == codes[3])
        #expect(codes[0] != codes[2])
        for session in [ann, bob, asBob, asAnn] { await session.disconnect() }
    }

    @Test("a new link has another code [sas.once]")
    func again() async throws {
        let meeting = try Meeting()
        var codes: Set<String> = []
        for _ in 0..<2 {
            try await meeting.link()
            codes.insert(try await within { try await meeting.expectCode() })
            await meeting.end()
        }
        #expect(codes.count == 2)
    }

    @Test("there is no code without a link, nor on a plain one [sas.plain]")
    func none() async throws {
        let meeting = try Meeting(ann: .loopback(.none), bob: .loopback(.none))
        let unlinked = await #expect(throws: MultipeerError.self) {
            try await meeting.ann.verificationCode(for: meeting.bob.peer)
        }
        #expect(unlinked?.code == .notConnected)
        try await meeting.link()
        let plain = await #expect(throws: MultipeerError.self) {
            try await meeting.ann.verificationCode(for: meeting.bob.peer)
        }
        #expect(plain?.code == .notEncrypted)
        try await within { try await meeting.expectTalk() }
        await meeting.end()
    }

    @Test("a peer is verified once both users have confirmed the code, on both sides [sas.result]")
    func confirmed() async throws {
        let meeting = try Meeting()
        try await meeting.link()
        let (ann, bob) = (meeting.ann, meeting.bob)
        await #expect(throws: MultipeerError(.invalidArgument, "")) {
            try await ann.confirmVerification(of: bob.peer)
        }
        _ = try await within { try await meeting.expectCode() }
        async let anns: Void = ann.confirmVerification(of: bob.peer)
        // What ann has said has arrived, and bob's user has not confirmed yet.
        try await within { try await meeting.expectTalk() }
        #expect(await ann.connectionInfo(for: bob.peer)?.verification.isVerified == false)
        #expect(await bob.connectionInfo(for: ann.peer)?.verification.isVerified == false)
        try await within { try await bob.confirmVerification(of: ann.peer) }
        try await anns
        #expect(await ann.connectionInfo(for: bob.peer)?.verification == .verified(by: .code))
        #expect(await bob.connectionInfo(for: ann.peer)?.verification == .verified(by: .code))
        await meeting.end()
    }

    @Test("when a user says that the digits differ, both sides end with that reason [sas.different]")
    func different() async throws {
        let meeting = try Meeting()
        try await meeting.link()
        let (ann, bob) = (meeting.ann, meeting.bob)
        _ = try await within { try await meeting.expectCode() }
        let waiting = Task { try await ann.confirmVerification(of: bob.peer) }
        try await within { try await meeting.expectTalk() }
        try await bob.rejectVerification(of: ann.peer)
        let error = await #expect(throws: MultipeerError.self) { try await waiting.value }
        #expect(error?.reason?.code == .codesDiffer)
        let ends = try await within { (await ann.events.firstEnd(), await bob.events.firstEnd()) }
        #expect(ends.0?.code == .codesDiffer && ends.1?.code == .codesDiffer)
        await meeting.end()
    }

    @Test("an application that does not compare says so, and may still compare later [sas.result]")
    func declined() async throws {
        for annFirst in [true, false] {
            let meeting = try Meeting.annFirst()
            try await meeting.link()
            let first = annFirst ? meeting.ann : meeting.bob
            let second = annFirst ? meeting.bob : meeting.ann
            try await second.declineVerification(of: first.peer)
            let waiting = Task { try await first.verificationCode(for: second.peer) }
            try await within { await second.expectRequest(of: first.peer) }
            try await second.declineVerification(of: first.peer)
            try await second.declineVerification(of: first.peer)
            await #expect(throws: MultipeerError(.declined, "")) { try await waiting.value }
            let code = try await within { try await meeting.expectCode() }
            #expect(code.utf8.count == 12)
            await meeting.end()
        }
    }

    @Test("typed digits are compared without spaces and hyphens, and only when there are six")
    func typed() {
        let digits = VerificationDigits("123456654321", isControlling: true)
        #expect(digits.own == "123456")
        #expect(digits.match("654 321") && digits.match("654-321") && digits.match(" 654321\n"))
        for wrong in ["123456", "65432", "6543211", "y", "", "65432１"] { #expect(!digits.match(wrong)) }
        #expect(VerificationDigits.isComplete("000 000") && !VerificationDigits.isComplete("00000"))
        #expect(VerificationDigits("123456654321", isControlling: false).match("123456"))
    }

    @Test("a frame of a code on a plain link ends it with PROTOCOL [sas.plain]")
    func plainFrames() async throws {
        let bytes = [UInt8](repeating: 1, count: 32)
        for frame in [
            Frame.codeRequest, .codeCommit(bytes), .codeNonce(bytes), .codeReveal(bytes), .codeResult(.ok),
        ] {
            try await withTaps { annsTap, bobsTap in
                let meeting = try Meeting(
                    ann: .loopback(.none).tapped(by: annsTap), bob: .loopback(.none).tapped(by: bobsTap))
                try await meeting.link()
                try await within { try await meeting.expectTalk() }
                let isAnns = await meeting.bob.connectionInfo(for: meeting.ann.peer)?.isDialled == true
                let tap = isAnns ? annsTap : bobsTap
                let live = try #require(await tap.flows.lastIndex { !$0.isOver })
                var wire = ByteBuffer()
                frame.encode(into: &wire)
                await tap.inject(wire.takeAll(), to: isAnns ? .listener : .dialler, of: live)
                let ends = try await within {
                    (await meeting.ann.events.firstEnd(), await meeting.bob.events.firstEnd())
                }
                #expect(ends.0?.code == .protocolViolation)
                #expect(ends.0?.closeCode == .protocolError)
                #expect(ends.1?.closeCode == .protocolError)
                await meeting.end()
            }
        }
    }
}

extension Meeting {
    /// The code that both get when both ask.
    fileprivate func expectCode() async throws -> String {
        async let anns = ann.verificationCode(for: bob.peer)
        async let bobs = bob.verificationCode(for: ann.peer)
        let codes = try await (anns, bobs)
        #expect(codes.0.code == codes.1.code && codes.0.own != codes.1.own)
        #expect(codes.0.match(codes.1.own) && codes.1.match(codes.0.own))
        return codes.0.code
    }
}

extension Session {
    /// Waits until it is notified that a peer wants to compare codes.
    func expectRequest(of peer: PeerID) async {
        for await event in events {
            if case .verificationRequested(peer) = event { return }
        }
        Issue.record("the events ended")
    }
}

@Suite("13 Missing verification codes", .inTurns)
struct VerificationFailureTests {
    /// Runs `body` with two drivers that are linked, and receive nothing from each other any more.
    private static func withDeafLink(
        _ body: @escaping @Sendable (_ ann: SessionDriver, _ bob: UID) async throws -> Void
    ) async throws {
        try await withTaps { annsTap, bobsTap in
            let brief = Session.Configuration.loopback().with {
                $0.keepAliveInterval = .milliseconds(500)
                $0.idleTimeout = .seconds(4)
            }
            let ann = try SessionDriver(PeerID(displayName: "ann"), brief.tapped(by: annsTap))
            let bob = try SessionDriver(PeerID(displayName: "bob"), brief.tapped(by: bobsTap))
            let (data, others) = (
                try await ann.connectionData(for: nil), try await bob.connectionData(for: nil)
            )
            async let first: Void = ann.connect(with: others)
            async let second: Void = bob.connect(with: data)
            _ = try await (first, second)
            for tap in [annsTap, bobsTap] { await tap.meddle { _ in .hold } }
            try await body(ann, bob.peer.uid)
            await ann.shutDown()
            await bob.shutDown()
        }
    }

    @Test("waiting for the code times out, and the link stays [sas.wait]")
    func late() async throws {
        try await Self.withDeafLink { ann, bob in
            await #expect(throws: VerificationFault.timedOut) {
                try await ann.verificationCode(for: bob, within: .milliseconds(100))
            }
            #expect(await ann.linkedPeers.map(\.uid) == [bob])
            await #expect(throws: VerificationFault.timedOut) {
                try await ann.verificationCode(for: bob, within: .zero)
            }
        }
    }

    @Test("the end of the link ends the wait, with its reason")
    func ended() async throws {
        try await Self.withDeafLink { ann, bob in
            let fault = await #expect(throws: VerificationFault.self) {
                try await ann.verificationCode(for: bob, within: .seconds(60))
            }
            #expect(fault == .ended(DisconnectReason(code: .timedOut)))
        }
    }

    @Test("a cancelled caller stops waiting")
    func cancelled() async throws {
        try await Self.withDeafLink { ann, bob in
            let waiting = Task { try await ann.verificationCode(for: bob, within: .seconds(60)) }
            waiting.cancel()
            await #expect(throws: VerificationFault.cancelled) { try await waiting.value }
        }
    }
}
