import MultipeerPlatform

/// The descriptor of a directory, of which a process has one for all that use it.
final class SharedDirectory: Sendable {
    /// What distinguishes a directory from all others that exist, as one that is held open does.
    private struct Identity: Hashable {
        let device: dev_t
        let number: ino_t

        init(_ status: stat) { (device, number) = (status.st_dev, status.st_ino) }
    }

    private struct Reference {
        weak var directory: SharedDirectory?
    }

    let descriptor: Descriptor

    private static let known = Locked<[Identity: Reference]>([:])
    /// The number of entries from which on those of closed directories are removed.
    private static let sweepSize = 64

    private init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }

    /// Returns the directory; opens it if it is not open. Returns nil, with `errno`, when that fails.
    static func open(_ name: String, in folder: Int32, following followsLinks: Bool) -> SharedDirectory? {
        var status = stat()
        if unsafe fstatat(folder, name, &status, followsLinks ? 0 : AT_SYMLINK_NOFOLLOW) == 0,
            let open = find(Identity(status))
        {
            return open
        }
        let flags = O_DIRECTORY | O_CLOEXEC | (followsLinks ? 0 : O_NOFOLLOW)
        var descriptor = Descriptor(Descriptors.open(name, in: folder, O_RDONLY | flags))
        // A directory in which one may write need not be one that one may list.
        if descriptor.number < 0, errno == EACCES {
            descriptor = Descriptor(Descriptors.open(name, in: folder, SystemCalls.openPlace | flags))
        }
        guard descriptor.number >= 0, unsafe fstat(descriptor.number, &status) == 0 else { return nil }
        let (identity, opened) = (Identity(status), SharedDirectory(descriptor))
        // Of two that are opened at once, one stays.
        return find(identity, orAdd: opened) ?? opened
    }

    private static func find(
        _ identity: Identity, orAdd opened: SharedDirectory? = nil
    ) -> SharedDirectory? {
        known.withLock { known in
            if let open = known[identity]?.directory { return open }
            guard let opened else { return nil }
            if known.count >= sweepSize { known = known.filter { $0.value.directory != nil } }
            known[identity] = Reference(directory: opened)
            return nil
        }
    }
}
