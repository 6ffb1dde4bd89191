package import MultipeerCore
import MultipeerPlatform
package import MultipeerSecurity

/// A file whose transfer broke, and that the next one from the same peer, with the same key, goes on with. A peer's id alone is
/// what anyone can state: what is there, its digest and the right to complete it are for the holder of the key that sent it.
///
/// Its name shows what it is, and never changes while it is received: what a killed process leaves is found by the next one. What
/// is there counts, with no record of its own: bytes are only ever appended. It is used only if it is a regular file with one name,
/// of this user, that no other user may read or write, where the file system knows such permissions, and that no other process is
/// using. Everything here blocks.
package struct UnfinishedFile: Hashable, Sendable {
    /// Its name in the directory.
    package let name: String
    /// An older one is removed.
    package let lifetime: Duration

    package static let ending = ".multipeer-part"
    /// How long one is kept by default.
    package static let standardLifetime = Duration.seconds(7 * 86_400)
    /// The most bytes that the beginning of the name may have.
    package static let longestLabel = 255 - 1 - digits - ending.utf8.count
    /// The most that one directory keeps. Of too many the smallest go, so that small ones, which cost their sender little, do not push
    /// out large ones; of too many bytes the oldest.
    static let limit = 32
    static let byteLimit: UInt64 = 16 << 30
    private static let digits = 16

    /// Creates the name for a resource. `label`: the beginning, for people. `fingerprint`: that of the sender's key. `key`: what
    /// distinguishes resources of one sender that have the same name and size.
    package init(
        label: String, from sender: UID, with fingerprint: Fingerprint, named resource: String, size: UInt64,
        key: [UInt8] = [],
        lifetime: Duration = standardLifetime
    ) {
        precondition(label.utf8.count <= UnfinishedFile.longestLabel, "a file name has at most 255 bytes")
        var parts: [UInt8] = Array("multipeer unfinished".utf8)
        for number in [sender.high, sender.low, size, UInt64(key.count)] {
            for shift in stride(from: 56, through: 0, by: -8) {
                parts.append(UInt8(truncatingIfNeeded: number >> UInt64(shift)))
            }
        }
        // [resource.partial]
        let digest = SHA256.hash(parts + fingerprint.bytes + key + Array(resource.utf8))
        let number = digest.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let text = String(number, radix: 16)
        name =
            label + "." + String(repeating: "0", count: UnfinishedFile.digits - text.count) + text
            + UnfinishedFile.ending
        self.lifetime = lifetime
    }

    /// Returns whether a file has such a name.
    static func isName(_ name: some StringProtocol) -> Bool {
        // By bytes: a character before the point may join it.
        let (bytes, ending) = (Array(name.utf8), Array(ending.utf8))
        let stem = bytes.dropLast(ending.count)
        let digits = stem.suffix(UnfinishedFile.digits)
        return bytes.suffix(ending.count).elementsEqual(ending) && digits.count == UnfinishedFile.digits
            && stem.dropLast(UnfinishedFile.digits).last == UInt8(ascii: ".")
            && digits.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }
}

extension UnfinishedFile {
    /// Returns this user's private directory for parts for which no other directory was named; nil if there can be none. It is where
    /// the directories of sessions are, so that files can be renamed from one to the other.
    static func directory() -> String? {
        let path = "\(ResourceFolder.temporary())/multipeer-parts-\(geteuid())"
        guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else { return nil }
        guard ResourceFolder.isPrivate(path) else { return nil }
        // What has become too old goes also when no other transfer breaks.
        if ResourceFolder.isFirstUse(of: path) { PartialFile.sweep(path) }
        return path
    }

    /// Opens what an earlier transfer has left, or else creates the file; it is locked then. Returns nil if the name is taken by
    /// something that is not to be used: another transfer, a link, or what belongs to another user. What is written next follows
    /// what is there.
    func open(in folder: Int32, upTo size: UInt64) throws(FileFault) -> Descriptor? {
        let flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
        let old = Descriptor(Descriptors.open(name, in: folder, flags))
        if old.number >= 0 {
            var status = stat()
            guard PartialFile.lock(old, at: name, in: folder), unsafe fstat(old.number, &status) == 0,
                UnfinishedFile.isOwn(status), UnfinishedFile.isClosed(old, status)
            else { return nil }
            let isUsable = UInt64(clamping: status.st_size) <= size && UnfinishedFile.age(status) <= lifetime
            if isUsable, lseek(old.number, 0, SEEK_END) == status.st_size { return old }
            unsafe unlinkat(folder, name, 0)
        }
        // [resource.private]
        let new = Descriptor(Descriptors.open(name, in: folder, flags | O_CREAT | O_EXCL, 0o600))
        guard new.number >= 0 else {
            if [EEXIST, ELOOP].contains(errno) { return nil }
            throw FileFault(lastAt: name)
        }
        guard PartialFile.lock(new, at: name, in: folder) else { return nil }
        return new
    }

    private static func isOwn(_ status: stat) -> Bool {
        status.st_mode & S_IFMT == S_IFREG && status.st_uid == geteuid() && status.st_nlink == 1
    }

    /// Returns whether other users may neither read nor write it. Where the file system gives all files the same mode, which no call
    /// changes, it is as closed as can be.
    private static func isClosed(_ file: borrowing Descriptor, _ status: stat) -> Bool {
        if status.st_mode & 0o077 == 0 { return true }
        _ = fchmod(file.number, 0o600)
        var now = stat()
        if unsafe fstat(file.number, &now) == 0, now.st_mode == status.st_mode { return true }
        // It was opened to others, and is left so.
        _ = fchmod(file.number, status.st_mode & 0o7777)
        return false
    }

    /// The time since it was last written. A time that is far from now, which a file system may keep, is as old as can be.
    private static func age(_ status: stat) -> Duration {
        let (seconds, overflows) = time(nil).subtractingReportingOverflow(status.modified.tv_sec)
        return .seconds(overflows ? .max : seconds)
    }

    /// Removes those of a directory that are too old, too many or too large together, but for those in use.
    static func sweep(_ folder: Int32, keeping lifetime: Duration) {
        var kept: [(name: String, age: Duration, count: UInt64)] = []
        for name in PartialFile.names(in: folder, where: { isName($0) }) {
            var status = stat()
            guard unsafe fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0, isOwn(status) else {
                continue
            }
            kept.append((name, age(status), UInt64(clamping: status.st_size)))
        }
        for file in kept where file.age > lifetime { PartialFile.remove(file.name, in: folder) }
        kept.removeAll { $0.age > lifetime }
        kept.sort { ($1.count, $0.age, $0.name) < ($0.count, $1.age, $1.name) }
        for file in kept.dropFirst(limit) { PartialFile.remove(file.name, in: folder) }
        kept = kept.prefix(limit).sorted { ($0.age, $0.name) < ($1.age, $1.name) }
        var total: UInt64 = 0
        for (place, file) in kept.enumerated() {
            total += min(file.count, byteLimit)
            // The newest one may be larger by itself: there was room for all of it.
            if place > 0, total > byteLimit { PartialFile.remove(file.name, in: folder) }
        }
    }
}
