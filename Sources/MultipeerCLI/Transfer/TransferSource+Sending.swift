import Foundation
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
        to peer: PeerID, over session: Session, metadata: [UInt8]? = nil, digest: Bool = true,
        limit: LimitedSource.Limit? = nil
    ) async throws(MultipeerError) -> OutgoingResource {
        if let limit {
            return try await session.send(to: peer, label, metadata, digest, true) {
                _ throws(ResourceFault) in
                (LimitedSource.limiting(try await opened(), limit), nil)
            }
        }
        return try await send(to: peer, over: session, metadata, digest)
    }

    /// Opens the source, and reads nothing of it yet.
    private func opened() async throws(ResourceFault) -> any PieceSource {
        do throws(FileFault) {
            switch origin {
            case .file(let url): return try FileSource(url.path)
            case .entry(let directory, let entry):
                return entry.kind == .directory ? EmptySource() : try directory.open(entry.path)
            case .input: return DescriptorSource()
            case .pipe(let path): return DescriptorSource(path: path)
            case .web: break
            }
        } catch {
            throw .file(error)
        }
        guard case .web(let url) = origin else { return EmptySource() }
        return try await WebSource.open(url)
    }

    private func send(
        to peer: PeerID, over session: Session, _ metadata: [UInt8]?, _ digest: Bool
    ) async throws(MultipeerError) -> OutgoingResource {
        switch origin {
        case .entry(_, let entry) where entry.kind == .directory:
            try await session.send(EmptySource(), to: peer, name: label, metadata: metadata, digest: false)
        case .entry(let directory, let entry):
            try await session.send(
                opening: { () throws(FileFault) in try directory.open(entry.path) }, to: peer, name: label,
                metadata: metadata, digest: digest)
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

/// No bytes: for a directory without entries.
private final class EmptySource: PieceSource {
    var size: UInt64? { 0 }

    func next() async throws(ResourceFault) -> [UInt8]? { nil }

    func cancel() {}
}
