import Foundation
import Multipeer
import MultipeerCommandLine
@unsafe @preconcurrency import MultipeerConnectivity

/// A session of the classes with Apple's names, and the state changes of its peers.
final class ConnectivitySession: NSObject, MCSessionDelegate, Sendable {
    /// Safe: all its members may be called from any thread.
    nonisolated(unsafe) let session: MCSession
    let peer: PeerID
    /// The port at which the session and an advertiser listen.
    let port: SharedPort
    /// All state changes, in order, for one reader.
    let changes: AsyncStream<(PeerID, MCSessionState)>
    private let changed: AsyncStream<(PeerID, MCSessionState)>.Continuation

    init(_ arguments: Arguments, _ options: DiscoveryOptions) throws(CommandError) {
        let own = try PeerOptions(arguments)
        peer = own.peer
        port = try PortOption.port(arguments)
        let preference = try arguments.choice("--preference", of: ["required", "optional", "none"]) {
            ["required": MCEncryptionPreference.required, "optional": .optional, "none": .none][$0]
        }
        var configuration = Session.Configuration()
        configuration.listenAddresses = options.selectedInterfaces.listenAddresses
        configuration.overrides.sharedPort = port
        configuration.maximumMessageSize = 65_536
        configuration.keyLog = options.keyLog
        unsafe session = MCSession(
            peer: MCPeerID(peer), securityIdentity: own.identity.map { [MCIdentity($0)] },
            encryptionPreference: preference ?? .required,
            configuration: configuration)
        (changes, changed) = AsyncStream.makeStream()
        super.init()
        unsafe session.delegate = self
    }

    /// Disconnects from all peers gracefully, and waits until that is done.
    func leave() async { unsafe await session.native.disconnect() }

    func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
        changed.yield((peerID.id, state))
    }

    // Received data is discarded.

    func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {}

    func session(
        _ session: MCSession, didReceive stream: InputStream, withName streamName: String,
        fromPeer peerID: MCPeerID
    ) {}

    func session(
        _ session: MCSession, didStartReceivingResourceWithName resourceName: String,
        fromPeer peerID: MCPeerID, with progress: Foundation.Progress
    ) {
        progress.cancel()
    }

    func session(
        _ session: MCSession, didFinishReceivingResourceWithName resourceName: String,
        fromPeer peerID: MCPeerID, at localURL: URL?, withError error: (any Error)?
    ) {}
}
