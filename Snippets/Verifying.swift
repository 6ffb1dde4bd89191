// The samples of "Who is at the other end?".

// snippet.hide
import Foundation
// snippet.show
import Multipeer

/// Returns whether both users have confirmed that they are talking to each other.
func verify(
    _ peer: PeerID, in session: Session, asking user: @Sendable (String) async -> String?
) async throws -> Bool {
    let digits = try await session.verificationCode(for: peer)  // waits for the other side's user
    for _ in 1...3 {
        guard let typed = await user("Your digits: \(digits.own). Type those of \(peer.displayName):") else {
            break
        }
        guard digits.match(typed) else { continue }  // a mistake in typing: the digits cannot change
        try await session.confirmVerification(of: peer)  // returns when the other user has confirmed, too
        return true
    }
    try await session.rejectVerification(of: peer)  // ends the link at both ends, with the reason codesDiffer
    return false
}

/// What to show next to a peer's name.
func badge(of peer: PeerID, in session: Session) async -> String {
    guard let verification = await session.connectionInfo(for: peer)?.verification else {
        return "not connected"
    }
    return verification.isVerified ? "✓ \(verification)" : "\(verification)"
}

/// A configuration that remembers whom your users have verified.
func remembering(_ identity: Identity, in path: String) throws -> Session.Configuration {
    var configuration = Session.Configuration(identity: identity)
    configuration.trustStore = try TrustStore.File(path: path)
    configuration.trust = .unchanged { evidence in
        // "the key has changed since 2026-11-22: old 3f9a …, new 07c1 …"
        await ask("\(evidence.name): \(evidence.contradiction ?? ""). Connect anyway?")
    }
    return configuration
}

// snippet.hide
func ask(_ question: String) async -> Bool {
    print(question)
    return false
}

/// This sample sends nothing to other machines.
func loopback(_ name: String) throws -> Session {
    var configuration = Session.Configuration()
    configuration.listenAddresses = DiscoveryConfiguration.loopback.listenAddresses
    return try Session(peer: PeerID(displayName: name), configuration: configuration)
}

func demonstrate() async throws {
    let (ann, bob) = (try loopback("ann"), try loopback("bob"))
    let (annsData, bobsData) = (try await ann.connectionData(), try await bob.connectionData())
    async let linking: Void = ann.connect(with: bobsData)
    try await bob.connect(with: annsData)
    try await linking
    print(await badge(of: bob.peer, in: ann))
    let (annsDigits, bobsDigits) = (
        Task { try await ann.verificationCode(for: bob.peer).own },
        Task { try await bob.verificationCode(for: ann.peer).own }
    )
    async let anns = verify(bob.peer, in: ann) { _ in try? await bobsDigits.value }
    let bobs = try await verify(ann.peer, in: bob) { _ in try? await annsDigits.value }
    print(try await anns && bobs, await badge(of: bob.peer, in: ann))
}

try await demonstrate()
