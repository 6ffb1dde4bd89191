import Foundation
import MultipeerIntroduction
import MultipeerTransport

extension SessionCore {
    func startStream(named name: String, to peer: PeerID) throws -> OutputStream {
        throw MCError(.unavailable, "streams are not there yet")
    }

    /// A peer opened a stream. Letting go of it declines it.
    func received(_ stream: IncomingStream) async {}
}
