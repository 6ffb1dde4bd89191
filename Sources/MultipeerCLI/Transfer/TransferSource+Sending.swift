import Multipeer
import MultipeerCommandLine
import MultipeerWeb

extension TransferSource {
    /// Returns the address of a document if the server redirected to another one than the user gave.
    func redirection(_ resource: OutgoingResource) -> String? {
        guard case .web(let url) = origin, let address = resource.documentAddress, address != url.shown else {
            return nil
        }
        return "\(label.printable) comes from \(address.printable)"
    }

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
                DescriptorSource(), to: peer, name: label, metadata: metadata, digest: digest)
        case .pipe(let path):
            try await session.send(
                DescriptorSource(path: path), to: peer, name: label, metadata: metadata, digest: digest)
        }
    }
}
