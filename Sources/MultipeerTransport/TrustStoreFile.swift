import MultipeerFraming
import MultipeerSecurity

/// The trust store on disk: which fingerprint each peer showed first. Read once, replaced whole at every change.
public final class TrustStoreFile: Sendable {
    /// Where it is kept, with mode 0600.
    public let path: String
    private let store: Locked<TrustStore>

    private static let largest = 4 * 1_048_576

    /// Reads the file; one that does not exist is an empty store.
    ///
    /// Throws when the file cannot be read, or a line of it is no entry.
    public init(path: String) throws {
        self.path = path
        var bytes: [UInt8] = []
        do throws(FileFault) {
            bytes = try PrivateFile.read(path, limit: TrustStoreFile.largest)
        } catch {
            if error.reason != .notFound { throw error }
        }
        store = Locked(try TrustStore(text: bytes))
    }

    func fingerprint(of peer: UID) -> Fingerprint? { store.withLock { $0[peer] } }

    /// Remembers and writes; false when it could not be written, and then nothing is remembered.
    func remember(_ fingerprint: Fingerprint, of peer: UID) -> Bool {
        store.withLock { store in
            var changed = store
            guard changed.remember(fingerprint, of: peer) else { return false }
            do throws(FileFault) {
                try PrivateFile.replace(path, with: changed.text)
            } catch {
                return false
            }
            store = changed
            return true
        }
    }
}
