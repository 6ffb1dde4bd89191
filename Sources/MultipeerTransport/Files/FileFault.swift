import MultipeerPlatform

/// Why a file could not be read or written.
package struct FileFault: Error, Hashable, Sendable {
    package enum Reason: Hashable, Sendable {
        case notFound
        case permission
        case isDirectory
        /// A link, a device or a pipe where a regular file is required.
        case notRegular
        case tooLarge
        case noSpace
        /// The user has stored as much as the system allows.
        case quota
        /// The file system, or a resource limit of the process, does not allow a file as long as this.
        case sizeLimit
        /// The process, or the system, has too many open files.
        case tooManyFiles
        /// The file system cannot be written to.
        case readOnly
        case nameTooLong
        /// The program that reads the pipe or the socket has closed it.
        case closed
        /// The file became shorter while it was read.
        case shrank
        /// Any other error: the value of `errno`.
        case other(Int32)
    }

    package let reason: Reason
    package let path: String

    package init(_ reason: Reason, path: String) {
        self.reason = reason
        self.path = path
    }

    /// Creates the fault of a call that failed just now.
    init(lastAt path: String) { self.init(Reason(errno: errno), path: path) }

    /// The same for a call that makes a file longer: the file system, or a resource limit of the process, may not allow one as long
    /// as that.
    init(lastWriting path: String) {
        let code = errno
        self.init(code == EFBIG ? .sizeLimit : Reason(errno: code), path: path)
    }
}

extension FileFault.Reason {
    init(errno code: Int32) {
        self =
            switch code {
            case ENOENT, ENOTDIR: .notFound
            case EACCES, EPERM: .permission
            case EROFS: .readOnly
            case ENAMETOOLONG: .nameTooLong
            case EPIPE: .closed
            case EISDIR: .isDirectory
            case ELOOP, ENXIO: .notRegular
            case EFBIG: .tooLarge
            case ENOSPC: .noSpace
            case EDQUOT: .quota
            case EMFILE, ENFILE: .tooManyFiles
            default: .other(code)
            }
    }
}

extension FileFault {
    /// Whether no more can be stored, for one reason or another.
    package var isLackOfSpace: Bool { [.noSpace, .quota, .sizeLimit].contains(reason) }
}

extension FileFault: CustomStringConvertible {
    package var description: String { "\(path): \(reason)" }
}

extension FileFault.Reason: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notFound: "no such file or directory"
        case .permission: "not permitted"
        case .isDirectory: "is a directory"
        case .notRegular: "not a regular file"
        case .tooLarge: "too large"
        case .noSpace: "no space left"
        case .quota: "the disk quota is used up"
        case .sizeLimit: "longer than the file system or a limit of the process allows"
        case .tooManyFiles: "too many open files"
        case .readOnly: "the file system is read-only"
        case .nameTooLong: "the name is too long"
        case .closed: "closed by the program that reads it"
        case .shrank: "became shorter while it was read"
        case .other(EEXIST): "already exists"
        case .other(let code): SystemMessage.text(code)
        }
    }
}
