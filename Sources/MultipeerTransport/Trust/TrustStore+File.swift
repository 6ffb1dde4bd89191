public import MultipeerCore
import MultipeerPlatform
public import MultipeerSecurity

extension TrustStore {
    /// The trust store on disk: the keys that peers presented first, and those that users verified.
    ///
    /// Sessions and processes may share it: a change is made to the present contents, while no other process makes one, and the
    /// file is replaced whole. It holds at most 10,000 peers: of those that were linked only once, and never verified, the oldest makes
    /// room for another. A peer for which there is no room, or whose key cannot be written, is not trusted on first use.
    public final class File: Sendable {
        /// The path of the file, which has mode 0600.
        public let path: String
        private let store: Locked<Read>

        /// What was read, and which file that was.
        private struct Read: Sendable {
            var contents: TrustStore
            /// Nil if that is not known.
            var stamp: Stamp?
        }

        /// A file that has the same still has the same contents: a change replaces it.
        private struct Stamp: Equatable, Sendable {
            let device: UInt64
            let file: UInt64
            let size: Int64
            let seconds: Int64
            let nanoseconds: Int64

            /// Nil if there is no file.
            init?(_ path: String) {
                var status = stat()
                guard unsafe lstat(path, &status) == 0 else { return nil }
                device = UInt64(truncatingIfNeeded: status.st_dev)
                file = UInt64(truncatingIfNeeded: status.st_ino)
                size = Int64(status.st_size)
                (seconds, nanoseconds) = (Int64(status.modified.tv_sec), Int64(status.modified.tv_nsec))
            }
        }

        /// Reads the file; one that does not exist is an empty store.
        ///
        /// Throws `file` when the file cannot be read, is larger than 4 MiB or not a regular file, and `invalidArgument` when a line
        /// of it is not an entry.
        public init(path: String) throws(MultipeerError) {
            self.path = path
            store = Locked(try TrustStore.File.read(path))
        }

        /// The entries as they were last read or written.
        public var contents: TrustStore { store.withLock { $0.contents } }

        /// Reads the file again if it has changed, as another process may have done, and returns its entries. It waits for the disk.
        @discardableResult
        public func reload() throws(MultipeerError) -> TrustStore {
            let known = store.withLock { $0 }
            if let stamp = known.stamp, stamp == Stamp(path) { return known.contents }
            let fresh = try TrustStore.File.read(path)
            store.withLock { $0 = fresh }
            return fresh.contents
        }

        /// Forgets a peer, and writes the file. It waits for the disk.
        public func forget(_ peer: UID) throws(MultipeerError) {
            _ = try change { store in
                store.forget(peer)
                return true
            }
        }

        /// Changes the present contents of the file, and writes them if they differ, while it holds a lock, which is a file of its
        /// own in the same directory. When `body` returns false, or the file cannot be written, nothing changes. It waits for the
        /// disk: never call it on a loop.
        package func change(_ body: (inout TrustStore) -> Bool) throws(MultipeerError) -> Bool {
            try FileLock.holding(of: path) { () throws(MultipeerError) in
                let before = try reload()
                var changed = before
                guard body(&changed) else { return false }
                if changed != before {
                    do throws(FileFault) { try PrivateFile.replace(path, with: changed.text) } catch {
                        throw MultipeerError(.file, "\(error)")
                    }
                }
                let stamp = Stamp(path)
                store.withLock { [changed] in $0 = Read(contents: changed, stamp: stamp) }
                return true
            }
        }

        private static func read(_ path: String) throws(MultipeerError) -> Read {
            let stamp = Stamp(path)
            var bytes: [UInt8] = []
            do throws(FileFault) {
                bytes = try PrivateFile.read(path, limit: TrustStore.largest)
            } catch {
                if error.reason != .notFound { throw MultipeerError(.file, "\(error)") }
            }
            let contents = try MultipeerError.checking { () throws(SecurityFault) in
                try TrustStore(parsing: bytes)
            }
            // One that was replaced meanwhile is read again the next time.
            return Read(contents: contents, stamp: stamp == Stamp(path) ? stamp : nil)
        }
    }
}
