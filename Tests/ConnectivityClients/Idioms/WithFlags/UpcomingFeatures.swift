// mode: Swift 5, upcoming features
// flags: -swift-version 5 -enable-upcoming-feature ExistentialAny
// flags: -enable-upcoming-feature MemberImportVisibility -enable-upcoming-feature ConciseMagicFile
// flags: -enable-upcoming-feature BareSlashRegexLiterals -enable-upcoming-feature ForwardTrailingClosures
// flags: -enable-upcoming-feature ImplicitOpenExistentials
// flags: -enable-upcoming-feature DisableOutwardActorInference
// flags: -enable-upcoming-feature NonisolatedNonsendingByDefault

import MultipeerConnectivity

// Swift 5 with upcoming features.

// idiom: existential types are written with any

final class AnyDelegates {
    weak var session: (any MCSessionDelegate)?
    var browser: (any MCNearbyServiceBrowserDelegate)?
    var failures: [any Error] = []
}

// idiom: members of Foundation with the one import

func summary(_ session: MCSession) -> String {
    session.connectedPeers.map(\.displayName).sorted().joined(separator: ", ").trimmingCharacters(
        in: .whitespaces)
}

// idiom: a regular expression literal on a name

func room(of peer: MCPeerID) -> (name: String, number: Int)? {
    guard let match = peer.displayName.wholeMatch(of: /([a-z]+)-([0-9]{1,3})/) else { return nil }
    return Int(match.2).map { (String(match.1), $0) }
}

// idiom: an asynchronous function that runs on its caller's actor

func connect(_ session: MCSession, _ peer: MCPeerID, _ ask: (Data) async -> Data) async throws {
    let theirs = await ask(try await session.nearbyConnectionData(forPeer: peer))
    session.connectPeer(peer, withNearbyConnectionData: theirs)
}
