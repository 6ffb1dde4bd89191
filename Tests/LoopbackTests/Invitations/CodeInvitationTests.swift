import Foundation
import Multipeer
import MultipeerCore
import MultipeerDiscovery
import MultipeerTransport
import TestSupport
import Testing

@Suite("13.8 Invitations with a code", .inTurns)
struct CodeInvitationTests {
    /// A receiver of invitations with a code, and those who want to invite it.
    private struct Scene {
        let bob: Member
        let advertiser: Advertiser
        let service: ServiceType
        let configuration: DiscoveryConfiguration

        init(
            _ ground: Ground, _ code: InvitationCode, _ validity: InvitationCode.Validity = .once
        ) throws {
            (service, configuration) = try ground.network()
            bob = try Member("bob", .loopback())
            advertiser = Advertiser(
                peer: bob.peer, service: service, code: code, validity: validity, configuration: configuration
            )
        }

        /// Invites with a code as a user would: finds the number, then proves the words.
        func invite(
            from member: Member, with code: InvitationCode?,
            validity: InvitationCode.Validity = .once, timeout: Duration = .seconds(20)
        ) async -> MultipeerError? {
            let browser = Browser(peer: member.peer, service: service, configuration: configuration)
            do throws(MultipeerError) {
                try await browser.start()
                let number = code ?? CodeInvitationTests.code
                let found = try await browser.peer(for: number)
                try await browser.invite(
                    found.peer, to: member.session, code: code, validity: validity, context: [7],
                    timeout: timeout)
                await browser.stop()
                return nil
            } catch {
                await browser.stop()
                return error
            }
        }
    }

    /// Advertises with a code, and tries other words. The advertiser ends an exchange after five seconds, which only the inviter
    /// counts as a guess; where a busy machine was as slow, this is repeated with another advertiser.
    private static func guessed(
        by eve: Member, _ validity: InvitationCode.Validity = .once
    ) async throws -> Scene {
        while true {
            try Task.checkCancellation()
            let scene = try Scene(.memory, code, validity)
            try await scene.advertiser.start()
            let start = ContinuousClock.now
            let failure = await scene.invite(from: eve, with: otherWords)
            if ContinuousClock.now - start < .seconds(4) {
                #expect(failure?.code == .wrongCode)
                return scene
            }
            await scene.advertiser.stop()
            await scene.bob.session.disconnect()
        }
    }

    private static let code = InvitationCode.fixed("7-guitar-island")
    private static let otherWords = InvitationCode.fixed("7-guitar-castle")

    @Test(
        "both have the code: they are linked, and each knows that the other had it [code.order] [code.number]",
        arguments: Ground.allCases)
    func proven(_ ground: Ground) async throws {
        let scene = try Scene(ground, Self.code)
        let ann = try Member("ann", .loopback())
        try await scene.advertiser.start()
        async let failure = scene.invite(from: ann, with: Self.code)
        var invitations = scene.advertiser.invitations.makeAsyncIterator()
        let invitation = try #require(await invitations.next())
        #expect(invitation.isVerified)
        #expect(invitation.context == [7])
        try await invitation.accept(into: scene.bob.session)
        #expect(await failure == nil)
        for (one, other) in [(ann, scene.bob), (scene.bob, ann)] {
            #expect(await one.session.connectionInfo(for: other.peer)?.verification == .verified(by: .code))
        }
        var events = scene.advertiser.codeEvents.makeAsyncIterator()
        #expect(await events.next() == .used)
        await scene.advertiser.stop()
        #expect(await events.next() == nil)
        await ann.session.disconnect()
        await scene.bob.session.disconnect()
    }

    @Test("one wrong word ends the code, and both sides are notified [code.guess] [code.once]")
    func wrongWord() async throws {
        let (eve, ann) = (try Member("eve", .loopback()), try Member("ann", .loopback()))
        let scene = try await Self.guessed(by: eve)
        var events = scene.advertiser.codeEvents.makeAsyncIterator()
        guard case .wrongGuess(let address, count: 1, endsCode: true)? = await events.next() else {
            Issue.record("the advertiser is not notified")
            return
        }
        #expect(address.contains("127.0.0.1") || address.contains("::1"))
        // The right words come too late.
        #expect(await scene.invite(from: ann, with: Self.code)?.code == .unknownCode)
        #expect(await scene.invite(from: ann, with: nil)?.code == .codeRequired)
        await scene.advertiser.stop()
    }

    @Test("wrong guesses make no link, however many, and each is reported [code.guess]")
    func manyGuesses() async throws {
        let count = Int(ProcessInfo.processInfo.environment["MULTIPEER_GUESSES"] ?? "") ?? 12
        let eve = try Member("eve", .loopback())
        var reported = 0
        for _ in 0..<count {
            let scene = try await Self.guessed(by: eve)
            var events = scene.advertiser.codeEvents.makeAsyncIterator()
            if case .wrongGuess(_, count: 1, endsCode: true)? = await events.next() { reported += 1 }
            await scene.advertiser.stop()
            await scene.bob.session.disconnect()
        }
        #expect(reported == count)
        #expect(await eve.session.connectedPeers.isEmpty)
    }

    @Test(
        "the holder of a code that stays valid is one of a group, so its link is not verified, and several are let in"
    )
    func sharedCode() async throws {
        let scene = try Scene(.memory, Self.code, .repeated)
        try await scene.advertiser.start()
        var invitations = scene.advertiser.invitations.makeAsyncIterator()
        for name in ["ann", "cid"] {
            let one = try Member(name, .loopback())
            async let failure = scene.invite(from: one, with: Self.code, validity: .repeated)
            try await #require(await invitations.next()).accept(into: scene.bob.session)
            #expect(await failure == nil)
            for (session, peer) in [(one.session, scene.bob.peer), (scene.bob.session, one.peer)] {
                let verification = await session.connectionInfo(for: peer)?.verification
                #expect(verification == .unverified(.sharedCode))
                #expect(verification?.isVerified == false)
            }
            await one.session.disconnect()
        }
        await scene.advertiser.stop()
        await scene.bob.session.disconnect()
    }

    @Test("a code that stays valid is not ended by a wrong guess [code.repeated]")
    func repeated() async throws {
        let (eve, ann) = (try Member("eve", .loopback()), try Member("ann", .loopback()))
        let scene = try await Self.guessed(by: eve, .repeated)
        var events = scene.advertiser.codeEvents.makeAsyncIterator()
        guard case .wrongGuess(_, count: 1, endsCode: false)? = await events.next() else {
            Issue.record("the advertiser is not notified")
            return
        }
        // It pauses for two seconds, in which the inviter tries again.
        async let failure = scene.invite(from: ann, with: Self.code, timeout: .seconds(60))
        var invitations = scene.advertiser.invitations.makeAsyncIterator()
        try await #require(await invitations.next()).accept(into: scene.bob.session)
        #expect(await failure == nil)
        await scene.advertiser.stop()
        await ann.session.disconnect()
        await scene.bob.session.disconnect()
    }

    @Test("two peers with one number: none is tried [code.number]")
    func ambiguous() async throws {
        let scene = try Scene(.memory, Self.code)
        let other = Advertiser(
            peer: try PeerID(displayName: "other"), service: scene.service, code: Self.otherWords,
            configuration: scene.configuration)
        let ann = try Member("ann", .loopback())
        try await scene.advertiser.start()
        try await other.start()
        #expect(await scene.invite(from: ann, with: Self.code)?.code == .ambiguousCode)
        await other.stop()
        await scene.advertiser.stop()
    }

    @Test("a search for a code takes no events from the application, and finds what it has seen already")
    func separate() async throws {
        let scene = try Scene(.memory, Self.code)
        let browser = Browser(
            peer: try PeerID(displayName: "ann"), service: scene.service, configuration: scene.configuration)
        try await scene.advertiser.start()
        try await browser.start()
        #expect(try await browser.peer(for: Self.code).peer == scene.bob.peer)
        var events = browser.events.makeAsyncIterator()
        #expect(await events.next()?.isFound(scene.bob.peer) == true)
        #expect(try await browser.peer(for: Self.code).codeNumber == 7)
        await browser.stop()
        await scene.advertiser.stop()
    }

    @Test("a search for a code ends with its task, and needs a running browser")
    func search() async throws {
        let (service, configuration) = try Ground.memory.network()
        let browser = Browser(
            peer: try PeerID(displayName: "ann"), service: service, configuration: configuration)
        await #expect(throws: MultipeerError(.notFound, "")) { try await browser.peer(for: Self.code) }
        try await browser.start()
        let searching = Task { () async -> MultipeerError.Code? in
            do throws(MultipeerError) { _ = try await browser.peer(for: Self.code) } catch {
                return error.code
            }
            return nil
        }
        searching.cancel()
        #expect(await searching.value == .cancelled)
        await browser.stop()
    }
}

extension InvitationCode {
    /// A code of a test.
    fileprivate static func fixed(_ text: String) -> InvitationCode {
        guard let code = try? InvitationCode(text) else { preconditionFailure("\(text) is no code") }
        return code
    }
}
