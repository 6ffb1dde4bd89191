public import MultipeerCore
import MultipeerFraming
import MultipeerLink
public import MultipeerTransport

// Messages that are not arrays of bytes, and messages to every peer.
extension Session {
    /// Sends the UTF-8 bytes of `text` as one message; otherwise like `send(_:to:delivery:)` of an array.
    public func send(_ text: String, to peer: PeerID, delivery: Delivery = .reliable)
        async throws(MultipeerError)
    {
        try await send([UInt8](text.utf8), to: peer, delivery: delivery)
    }

    /// Sends the bytes of `span` as one message; otherwise like `send(_:to:delivery:)` of an array. The bytes are copied before
    /// the call waits.
    public func send(
        _ span: Span<UInt8>, to peer: PeerID, delivery: Delivery = .reliable
    ) async throws(MultipeerError) {
        try await send([UInt8](copying: span), to: peer, delivery: delivery)
    }

    /// Sends one message to every peer that is linked now, and returns the peers for which it was accepted.
    ///
    /// Waits for the slowest of them, which delays none of the others. A peer whose link ends in the meantime, or that does not
    /// accept a message of this length, is left out of the result; the others still receive the message.
    ///
    /// Throws `cancelled` when the task is cancelled while waiting: the message may have been sent to some of the peers.
    @discardableResult
    public func sendToAll(
        _ message: [UInt8], delivery: Delivery = .reliable
    ) async throws(MultipeerError) -> [PeerID] {
        let peers = await connectedPeers
        var accepted: [PeerID] = []
        for (peer, outcome) in zip(peers, await sendEach(message, to: peers, delivery: delivery)) {
            do throws(MultipeerError) {
                try outcome.get()
                accepted.append(peer)
            } catch  where [.notConnected, .ended, .tooLarge].contains(error.code) {
                continue
            }
        }
        return accepted
    }

    /// Sends the UTF-8 bytes of `text` as one message to every peer that is linked now; otherwise like
    /// `sendToAll(_:delivery:)` of an array.
    @discardableResult
    public func sendToAll(
        _ text: String, delivery: Delivery = .reliable
    ) async throws(MultipeerError) -> [PeerID] {
        try await sendToAll([UInt8](text.utf8), delivery: delivery)
    }
}

extension Session.Message {
    /// The bytes as text; nil when they are not UTF-8.
    public var text: String? { String(validating: bytes, as: UTF8.self) }
}
