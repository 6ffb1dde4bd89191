import Multipeer
import MultipeerWeb

extension TransferSource {
    /// Starts sending to the peer, and returns once the transfer has started.
    func send(
        to peer: PeerID, over session: Session, metadata: [UInt8]? = nil, digest: Bool = true
    ) async throws(MultipeerError) -> OutgoingResource {
        switch origin {
        case .file(let url):
            try await session.send(file: url, to: peer, name: label, metadata: metadata, digest: digest)
        case .web(let url):
            try await session.send(document: url, to: peer, name: label, metadata: metadata, digest: digest)
        case .input:
            try await session.send(
                StandardInputSource(), to: peer, name: label, metadata: metadata, digest: digest)
        }
    }
}
