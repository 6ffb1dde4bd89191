import Multipeer
import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerSecurity
import MultipeerTransport
import TestSupport
import Testing

@Suite("13 Verification codes with a scripted peer", .inTurns)
struct VerificationRuleTests {
    /// The peer's frames: all valid but the last.
    struct Breach: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let isLower: Bool
        /// Whether the application asks before.
        var asks = true
        let frames: [Frame]
        var code = CloseCode.protocolError
    }

    static let nonce = [UInt8](repeating: 0xA0, count: 32)
    static let commit = Frame.codeCommit(VerificationCode.commitment(to: SecureBytes(nonce)))
    static let reveal = Frame.codeReveal(nonce)

    static let breaches = [
        Breach(
            testDescription: "another reveal", isLower: true,
            frames: [commit, .codeReveal([UInt8](repeating: 0xA1, count: 32))], code: .badMAC),
        Breach(testDescription: "two commitments", isLower: true, frames: [commit, commit]),
        Breach(testDescription: "a second run", isLower: true, frames: [commit, reveal, commit]),
        Breach(testDescription: "a second reveal", isLower: true, frames: [commit, reveal, reveal]),
        Breach(
            testDescription: "two commitments unasked", isLower: true, asks: false, frames: [commit, commit]),
        Breach(testDescription: "reveal unasked", isLower: true, asks: false, frames: [commit, reveal]),
        Breach(testDescription: "reveal alone", isLower: true, asks: false, frames: [reveal]),
        Breach(testDescription: "request of the lower", isLower: true, asks: false, frames: [.codeRequest]),
        Breach(
            testDescription: "nonce of the lower", isLower: true, asks: false, frames: [.codeNonce(nonce)]),
        Breach(testDescription: "commitment of the higher", isLower: false, asks: false, frames: [commit]),
        Breach(testDescription: "reveal of the higher", isLower: false, asks: false, frames: [reveal]),
        Breach(testDescription: "nonce unasked", isLower: false, asks: false, frames: [.codeNonce(nonce)]),
        Breach(
            testDescription: "nonce after a request unasked", isLower: false, asks: false,
            frames: [.codeRequest, .codeNonce(nonce)]),
        Breach(
            testDescription: "a second nonce", isLower: false,
            frames: [.codeRequest, .codeNonce(nonce), .codeNonce(nonce)]),
    ]

    /// Links, and lets the body talk for the peer.
    private static func withPeer(
        isLower: Bool, _ body: (Session, HandMadePeer) async throws -> Void
    ) async throws {
        let bob = try Session(peer: PeerID(displayName: "bob"), configuration: .loopback())
        let peer = try HandMadePeer(meeting: try await bob.connectionData(), isLower: isLower)
        let data = peer.data
        async let connected: Void = bob.connect(with: data)
        for await event in bob.events { if case .peer(_, .connecting) = event { break } }
        try await peer.link()
        try await connected
        try await body(bob, peer)
        await bob.disconnect(within: .zero)
    }

    @Test(
        "a peer that requests or commits gets no answer before the application asks, which is notified [sas.requested] [sas.value]",
        arguments: [true, false])
    func unasked(_ isLower: Bool) async throws {
        try await Self.withPeer(isLower: isLower) { bob, peer in
            let other = peer.data.peer
            let key = SecureBytes(try peer.exportKey("EXPORTER-mpc1-sas"))
            var machine = VerificationCode(
                as: isLower ? .controlling : .controlled, key: key, nonce: SecureBytes(Self.nonce))
            try await peer.say(try #require(machine.ask()))
            await bob.expectRequest(of: other)
            // A reaction to the frame would have been sent before this.
            try await peer.say(.ping(7))
            #expect(try await peer.hear(.pong, .codeRequest, .codeCommit, .codeNonce) == .pong(7))
            try await bob.send([7], to: other)
            #expect(try await peer.hear(.message, .codeRequest, .codeCommit, .codeNonce) == .message([7]))
            let asking = Task { try await bob.verificationCode(for: other) }
            while machine.code == nil {
                let heard = try await peer.hear(.codeCommit, .codeNonce, .codeReveal)
                if case .say(let answer) = try machine.receive(heard) { try await peer.say(answer) }
            }
            let code = machine.code
            #expect(try await asking.value.code == code)
        }
    }

    @Test(
        "a peer that violates the protocol is closed with the code of the rule [sas.order] [sas.commit] [sas.once]",
        arguments: breaches)
    func breach(_ breach: Breach) async throws {
        try await Self.withPeer(isLower: breach.isLower) { bob, peer in
            let other = peer.data.peer
            if breach.asks {
                Task { try? await bob.verificationCode(for: other) }
                _ = try await peer.hear(.codeRequest, .codeCommit)
            }
            for frame in breach.frames { try await peer.say(frame) }
            let close = try await peer.hear(.close)
            #expect(close == .close(breach.code, reason: ""))
            let end = await bob.events.firstEnd()
            #expect(end?.code == .protocolViolation)
            #expect(end?.closeCode == breach.code)
        }
    }

    @Test("frames after a refused frame are ignored, and frames after a valid one are used")
    func after() async throws {
        for isRefused in [true, false] {
            try await Self.withPeer(isLower: true) { bob, peer in
                let last = isRefused ? Self.reveal : Self.commit
                try await peer.say(.message([1]), last, .message([2]))
                if !isRefused { try await peer.say(.close(.goodbye, reason: "")) }
                var messages: [[UInt8]] = []
                for await event in bob.events {
                    if case .message(let message) = event { messages.append(message.bytes) }
                    if case .peer(_, .notConnected) = event { break }
                }
                #expect(messages == (isRefused ? [[1]] : [[1], [2]]))
            }
        }
    }

    @Test("waiting for the code of a peer that violates the protocol fails with the reason [sas.commit]")
    func waiting() async throws {
        try await Self.withPeer(isLower: true) { bob, peer in
            let other = peer.data.peer
            let waiting = Task { try await bob.verificationCode(for: other) }
            _ = try await peer.hear(.codeRequest)
            try await peer.say(Self.commit)
            try await peer.say(.codeReveal([UInt8](repeating: 0xA1, count: 32)))
            let error = await #expect(throws: MultipeerError.self) { try await waiting.value }
            #expect(error?.code == .ended)
            #expect(error?.reason?.closeCode == .badMAC)
        }
    }
}
