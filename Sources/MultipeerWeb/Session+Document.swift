public import Foundation
import Multipeer
import MultipeerFetch
public import MultipeerCore
public import MultipeerTransport

extension Session {
    /// Sends a document of a web server, and returns once the transfer has begun.
    ///
    /// This side fetches the document and forwards it while it arrives; data that the peer cannot yet receive is kept in the
    /// temporary directory. Redirections to http and https are followed, but none from https to http, and none to an
    /// address of this machine or its network except from an address of the same kind: `documentAddress` of the result shows where
    /// they led. Everything else is as for `send(file:to:name:metadata:digest:)`.
    ///
    /// ```swift
    /// let sending = try await session.send(document: url, to: bob)
    /// try await sending.waitUntilReceived()
    /// ```
    ///
    /// Throws `fetch` when the server does not respond with a document, `invalidArgument` for a URL that is neither http nor
    /// https, and whatever `send(file:to:name:metadata:digest:)` throws besides `file`.
    public func send(
        document url: URL, to peer: PeerID, name: String? = nil, metadata: [UInt8]? = nil,
        digest: Bool = true
    ) async throws(MultipeerError) -> OutgoingResource {
        try await send(to: peer, name ?? url.label, metadata, digest) { _ throws(ResourceFault) in
            (try await WebSource.open(url), nil)
        }
    }
}
