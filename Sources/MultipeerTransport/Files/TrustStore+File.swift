import MultipeerCore
public import MultipeerSecurity

extension TrustStore {
    /// The trust store on disk: the fingerprint that each peer presented first. It is read once, and replaced whole at every change.
    ///
    /// It holds at most 10,000 peers; a peer for which there is no room, or whose key cannot be written, is not trusted. Sessions of
    /// one process may share it; two processes must not, because each would undo what the other remembers.
    public final class File: Sendable {
        /// The path of the file, which has mode 0600.
        public let path: String
        private let store: Locked<TrustStore>
        /// Held while the file is replaced, so that readers do not wait for the disk.
        private let writer = Locked<Void>(())

        private static let largest = 4 * 1_048_576

        /// Reads the file; one that does not exist is an empty store.
        ///
        /// Throws `file` when the file cannot be read, is larger than 4 MiB or not a regular file, and `invalidArgument` when a line
        /// of it is not an entry.
        public init(path: String) throws(MultipeerError) {
            self.path = path
            var bytes: [UInt8] = []
            do throws(FileFault) {
                bytes = try PrivateFile.read(path, limit: TrustStore.File.largest)
            } catch {
                if error.reason != .notFound { throw MultipeerError(.file, "\(error)") }
            }
            store = Locked(
                try MultipeerError.checking { () throws(SecurityFault) in try TrustStore(parsing: bytes) })
        }

        func fingerprint(of peer: UID) -> Fingerprint? { store.withLock { $0[peer] } }

        /// Remembers a first key and writes it; returns false when it could not be written, and then nothing is remembered, or when
        /// another key was stored first in the meantime. It waits for the disk: never call it on a loop.
        func remember(_ evidence: TrustEvidence) -> Bool {
            writer.withLock { _ in
                var changed = store.withLock { $0 }
                let before = changed
                guard changed.rememberFirst(evidence) else { return false }
                if changed == before { return true }
                do throws(FileFault) {
                    try PrivateFile.replace(path, with: changed.text)
                } catch {
                    return false
                }
                store.withLock { [changed] in $0 = changed }
                return true
            }
        }
    }
}
