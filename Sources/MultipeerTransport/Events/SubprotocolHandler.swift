package import MultipeerCore
import MultipeerEngine
import MultipeerIntroduction
package import MultipeerLink
package import MultipeerMesh

/// Somebody who shares a session with its application, and takes from it what bears its mark.
///
/// Every method is called on the session's loop, in the order of what happened: what came over a link before the link's
/// end, and nothing of it after. A method must not wait and must not compute for long.
package protocol SubprotocolHandler: AnyObject, Sendable {
    /// What each of its messages begins with: the application never sees those.
    nonisolated var mark: UInt32 { get }

    /// There is a link: from here on, messages to this peer are accepted.
    nonisolated func linkMade(to peer: PeerID)
    /// It has ended, with what was said of it everywhere else.
    nonisolated func linkEnded(to peer: PeerID, _ reason: DisconnectReason)
    /// Reliable messages with the mark. They are consumed by this: the handler bounds what it keeps.
    nonisolated func arrived(_ messages: [IncomingMessage], from peer: PeerID)
    /// A stream was opened or a file offered; returns whether it is the handler's.
    nonisolated func takes(_ event: SessionEvent) -> Bool
}

extension SessionDriver {
    /// Lets the handler in, who is told of the links that there are; false when there is another already. Letting go of
    /// the handler is leaving.
    package func admit(_ handler: any SubprotocolHandler) -> Bool {
        guard events.admit(handler) else { return false }
        for connection in sockets.ordered {
            if let link = connection.link { handler.linkMade(to: link.peer) }
        }
        return true
    }
}

extension IncomingMessage {
    /// Whether the first four bytes are this number, the most significant first.
    func begins(with mark: UInt32) -> Bool {
        guard range.count >= 4 else { return false }
        let first = range.lowerBound
        var number: UInt32 = 0
        for index in first..<(first + 4) { number = number << 8 | UInt32(storage[index]) }
        return number == mark
    }
}
