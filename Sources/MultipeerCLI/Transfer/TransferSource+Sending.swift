import MultipeerCommandLine
import MultipeerEssentials
import MultipeerFetch

extension TransferSource {
    /// Returns the address of a document if the server redirected to another one than the user gave.
    func redirection(_ resource: OutgoingResource) -> String? {
        guard case .web(let url) = origin, let address = resource.documentAddress, address != url.shown else {
            return nil
        }
        return "\(label.printable) comes from \(address.printable)"
    }

    /// Whether it can be read again: a file on this machine.
    var isComparable: Bool {
        if case .file = opening { true } else { false }
    }

    /// Returns the digest of the file as it is now; nil if it cannot be read. `number`: in the transfer.
    func digest(_ number: Int) async -> FileDigest? {
        guard case .file(let open) = opening else { return nil }
        return await FileDigest.read(number, open)
    }

    /// How a source is opened, before anything of it is read.
    private enum Opening: Sendable {
        /// A file, which leaves with its first message if it is small.
        case file(@Sendable () throws(FileFault) -> FileSource)
        case other(@Sendable () async throws(ResourceFault) -> any PieceSource)
    }

    private var opening: Opening {
        switch origin {
        case .entry(_, let entry) where entry.kind == .directory: .other { EmptySource() }
        case .entry(let directory, let entry):
            .file { () throws(FileFault) in try directory.open(entry.path) }
        case .file(let path): .file { () throws(FileFault) in try FileSource(path) }
        case .web(let url):
            .other { () async throws(ResourceFault) in
                try await WebSource.open(url, with: CurlDocument.open)
            }
        case .input: .other { DescriptorSource() }
        case .pipe(let path): .other { DescriptorSource(path: path) }
        }
    }

    /// Starts sending to the peer, and returns once the transfer has started.
    func send(
        to peer: PeerID, over session: Session, metadata: [UInt8]? = nil, digest: Bool = true,
        limit: LimitedSource.Limit? = nil
    ) async throws(MultipeerError) -> OutgoingResource {
        let opening = opening
        if case .file(let open) = opening, limit == nil {
            return try await session.send(
                opening: open, to: peer, name: label, metadata: metadata, digest: digest)
        }
        return try await session.send(to: peer, label, metadata, digest, limit != nil) {
            _ throws(ResourceFault) in
            let source = try await TransferSource.open(opening)
            return (limit.map { LimitedSource.limiting(source, $0) } ?? source, nil)
        }
    }

    private static func open(_ opening: Opening) async throws(ResourceFault) -> any PieceSource {
        switch opening {
        case .other(let open): return try await open()
        case .file(let open): do throws(FileFault) { return try open() } catch { throw .file(error) }
        }
    }
}

/// No bytes: for a directory without entries.
private final class EmptySource: PieceSource {
    var size: UInt64? { 0 }

    func next() async throws(ResourceFault) -> [UInt8]? { nil }

    func cancel() {}
}
