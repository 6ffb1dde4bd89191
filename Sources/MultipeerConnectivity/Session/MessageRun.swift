import Foundation
import MultipeerCore
import MultipeerTransport

/// Delivers messages to a session's delegate. What is known of the sender and of the delegate is kept from one message to the
/// next, as long as neither has changed.
struct MessageRun: ~Copyable {
    private let peers: Versioned<ReportedPeers>
    private var delegate: CurrentDelegate
    private var version: UInt64
    private var sender: UID?
    /// Nil when the delegate does not know the sender to be connected.
    private var object: MCPeerID?

    init(_ core: SessionCore) {
        peers = core.reportedPeers
        delegate = CurrentDelegate(core.owner)
        version = peers.version
    }

    mutating func deliver(_ message: Session.Message) {
        if sender != message.peer.uid || peers.version != version { look(for: message.peer) }
        guard let object else { return }
        let data = unsafe message.slice.withUnsafeBufferPointer { unsafe Data(buffer: $0) }
        delegate.received(data, from: object)
    }

    private mutating func look(for peer: PeerID) {
        version = peers.version
        sender = peer.uid
        object = peers.read { $0.connected(peer) }
    }
}
