import Foundation
import Multipeer
import MultipeerCore
import MultipeerFraming
import MultipeerTransport

extension SessionCore {
    /// Announces the stream to the peer as soon as it accepts one more, whether or not anything is written.
    func startStream(named name: String, to peer: PeerID) throws -> OutputStream {
        guard stateOf(peer) == .connected else {
            throw MCError(.notConnected, "\(peer) is not connected")
        }
        try checkName(name)
        return PeerOutputStream(on: native.executor) { [native] () async throws(MultipeerError) in
            try await native.openStream(to: peer, name: name)
        }
    }

    /// Handles a stream that a peer opened, on the callback queue. Releasing it declines it, as without a delegate.
    func received(_ stream: IncomingStream) {
        withDelegate { session, delegate in
            delegate.session(
                session, didReceive: PeerInputStream(stream, on: native.executor), withName: stream.name,
                fromPeer: object(stream.peer))
        }
    }

    /// Validates the name of a stream or a resource.
    func checkName(_ name: String) throws {
        guard (1...Limits.channelName).contains(name.utf8.count) else {
            throw MCError(.invalidParameter, "a name has 1 to 1,024 bytes, not \(name.utf8.count)")
        }
    }
}
