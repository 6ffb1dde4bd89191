import Foundation
import Multipeer
import MultipeerCore
import MultipeerFraming
import MultipeerTransport

extension SessionCore {
    /// The peer hears of the stream as soon as it can take one more, whether or not anything is written.
    func startStream(named name: String, to peer: PeerID) throws -> OutputStream {
        guard stateOf(peer) == .connected else {
            throw MCError(.notConnected, "\(peer) is not connected")
        }
        try checkName(name)
        return PeerOutputStream(on: native.executor) { [native] () async throws(MultipeerError) in
            try await native.openStream(to: peer, name: name)
        }
    }

    /// A peer opened a stream. Letting go of it declines it, as when there is nobody to tell.
    func received(_ stream: IncomingStream) async {
        await callbacks.run { [self] in
            withDelegate { session, delegate in
                delegate.session(
                    session, didReceive: PeerInputStream(stream, on: native.executor), withName: stream.name,
                    fromPeer: object(stream.peer))
            }
        }
    }

    /// What a stream or a resource can be called.
    func checkName(_ name: String) throws {
        guard (1...Limits.channelName).contains(name.utf8.count) else {
            throw MCError(.invalidParameter, "a name has 1 to 1,024 bytes, not \(name.utf8.count)")
        }
    }
}
