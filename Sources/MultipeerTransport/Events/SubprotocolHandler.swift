package import MultipeerCore
import MultipeerEngine
import MultipeerHandshake
package import MultipeerLink
package import MultipeerMesh

/// A part of the process that shares a session with its application, and takes the messages with its mark.
///
/// Every method is called on the session's loop, in the order of events: what came over a link before the link's end, and nothing
/// of it after. A method must not wait and must not compute for long.
package protocol SubprotocolHandler: AnyObject, Sendable {
    /// The beginning of each of its messages: the application never sees those, and cannot send any.
    nonisolated var mark: UInt32 { get }

    /// A link was made: from here on, messages to this peer are accepted.
    nonisolated func linkMade(to peer: PeerID)
    /// The link has ended, with the same reason that is reported everywhere else.
    nonisolated func linkEnded(to peer: PeerID, _ reason: DisconnectReason)
    /// Reliable messages with the mark arrived. This call consumes them: the handler bounds what it keeps.
    nonisolated func arrived(_ messages: [IncomingMessage], from peer: PeerID)
    /// A stream was opened or a file offered; returns whether it belongs to the handler.
    nonisolated func takes(_ event: Session.Event) -> Bool
}

extension SessionDriver {
    /// Adds the handler and notifies it of the existing links; returns false when there is another already. Releasing the handler
    /// removes it.
    package func admit(_ handler: any SubprotocolHandler) -> Bool {
        guard events.admit(handler) else { return false }
        queues.admit(mark: handler.mark)
        for connection in sockets.ordered {
            if let link = connection.link { handler.linkMade(to: link.peer) }
        }
        return true
    }
}

extension IncomingMessage {
    /// Returns whether the first four bytes are this number, the most significant first.
    func begins(with mark: UInt32) -> Bool { mark.begins(range.count) { storage[range.lowerBound + $0] } }
}

extension UInt32 {
    /// Returns whether this is the mark of a message of that many bytes: its first four, the most significant first.
    @inline(__always)
    func begins(_ count: Int, _ byte: (Int) -> UInt8) -> Bool {
        guard count >= 4 else { return false }
        var number: UInt32 = 0
        for index in 0..<4 { number = number << 8 | UInt32(byte(index)) }
        return number == self
    }
}
