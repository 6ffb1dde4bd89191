public import MultipeerCore
import MultipeerEssentials
public import MultipeerFoundation
public import MultipeerTransport

// Messages as values of Foundation.
extension Session {
    /// Sends the bytes of `data` as one message; otherwise like `send(_:to:delivery:)` of an array.
    public func send(_ data: Data, to peer: PeerID, delivery: Delivery = .reliable)
        async throws(MultipeerError)
    {
        try await send([UInt8](data), to: peer, delivery: delivery)
    }

    /// Sends the bytes of `data` as one message to every peer that is linked now; otherwise like `sendToAll(_:delivery:)` of an
    /// array.
    @discardableResult
    public func sendToAll(
        _ data: Data, delivery: Delivery = .reliable
    ) async throws(MultipeerError) -> [PeerID] {
        try await sendToAll([UInt8](data), delivery: delivery)
    }
}

extension Session.Message {
    /// A copy of the bytes.
    public var data: Data { Data(bytes) }
}
