// Sends a document of a web server to a peer, which receives it as a file.

// snippet.hide
import Foundation
import Multipeer
import MultipeerWeb

func send(_ url: URL, over session: Session, to bob: PeerID) async throws {
    // snippet.show
    let sending = try await session.send(document: url, to: bob)
    try await sending.waitUntilReceived()
    // snippet.hide
}
