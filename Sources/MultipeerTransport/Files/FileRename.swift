import MultipeerPlatform

/// Gives a file another name in the same file system. Everything here blocks.
package enum FileRename {
    /// Throws when the new name exists, unless `isReplacing`.
    package static func move(_ from: String, _ to: String, replacing isReplacing: Bool) throws(FileFault) {
        if isReplacing { return try replacing(from, to) }
        guard try toNew(from, to) else { throw FileFault(.other(EEXIST), path: to) }
    }

    /// Replaces a file of the new name, but no directory. Symbolic links are not followed.
    package static func replacing(_ from: String, _ to: String) throws(FileFault) {
        guard unsafe rename(from, to) == 0 else { throw FileFault(lastAt: to) }
    }

    /// Returns false, and does nothing, when the new name exists, be it a dangling symbolic link.
    /// `folder` is where paths that are not absolute begin.
    package static func toNew(
        _ from: String, _ to: String, in folder: Int32 = AT_FDCWD
    ) throws(FileFault) -> Bool {
        // This needs no room for another link or inode, as the other ways do.
        if SystemCalls.renameToNew(folder, from, to) == 0 { return true }
        switch errno {
        case EEXIST: return false
        case EINVAL, ENOSYS: return try linking(from, to, folder)
        default: throw FileFault(lastAt: to)
        }
    }

    /// For file systems that cannot rename without replacing.
    private static func linking(_ from: String, _ to: String, _ folder: Int32) throws(FileFault) -> Bool {
        if unsafe linkat(folder, from, folder, to, 0) == 0 {
            unsafe unlinkat(folder, from, 0)
            return true
        }
        switch errno {
        case EEXIST: return false
        case EPERM, EOPNOTSUPP, EMLINK, ENOSYS: return try reserving(from, to, folder)
        default: throw FileFault(lastAt: to)
        }
    }

    /// For file systems without hard links, too: creates an empty file with the name first, and replaces that.
    private static func reserving(_ from: String, _ to: String, _ folder: Int32) throws(FileFault) -> Bool {
        let descriptor = Descriptors.open(to, in: folder, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            if errno == EEXIST { return false }
            throw FileFault(lastAt: to)
        }
        close(descriptor)
        guard unsafe renameat(folder, from, folder, to) == 0 else {
            let fault = FileFault(lastAt: to)
            unsafe unlinkat(folder, to, 0)
            throw fault
        }
        return true
    }
}
