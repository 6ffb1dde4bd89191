import MultipeerFraming

/// Why a resource did not arrive.
package enum ResourceFault: Error, Equatable, Sendable {
    /// Cancelled on this side.
    case cancelled
    /// Declined on this side.
    case declined
    /// What arrived is not what was promised, in size or digest.
    case damaged
    /// The file on this side.
    case file(FileFault)
    /// The document could not be fetched; the reason in words.
    case fetch(String)
    /// The document ended before its announced length.
    case tooShort(UInt64, of: UInt64)
    /// The application's sequence of bytes failed, or has another length than announced; the reason in words.
    case source(String)
    /// It cannot be sent, or received into.
    case unsupported(String)
    /// The system could not start a thread.
    case noThread(SocketFault)
    /// It was received or declined before.
    case taken
    /// The channel or the link is over.
    case channel(ChannelFault)
}

extension ResourceFault {
    /// The code that is sent to the other side when this one cannot go on. Spec 9.
    var closeCode: CloseCode {
        switch self {
        case .cancelled: .cancelled  // [resource.cancel]
        case .declined: .declined
        case .damaged, .tooShort: .digest
        case .file(let fault) where fault.isLackOfSpace: .noSpace  // [resource.space]
        case .file(let fault) where fault.reason == .shrank: .digest
        // What reads it here has all that it wants.
        case .file(let fault) where fault.reason == .closed: .cancelled
        case .file(let fault) where fault.reason == .tooManyFiles: .tooManyFiles  // [resource.files]
        case .noThread(.tooManyFiles): .tooManyFiles  // [resource.files]
        case .file, .fetch, .source, .unsupported, .noThread, .taken, .channel: .internal
        }
    }
}

extension MultipeerError {
    /// Translates a fault; `resource` names it, as in "the file to bob".
    package init(_ fault: ResourceFault, of resource: String) {
        switch fault {
        case .cancelled: self.init(.cancelled, "\(resource) was cancelled")
        case .declined: self.init(.declined, "\(resource) was declined")
        case .damaged: self.init(.damaged, "\(resource) does not match its announced size or digest")
        case .file(let fault):
            let code: Code =
                fault.isLackOfSpace ? .noSpace : fault.reason == .tooManyFiles ? .tooManyFiles : .file
            self.init(code, "\(fault)", file: fault.reason)
        case .fetch(let message): self.init(.fetch, message)
        case .tooShort(let count, let size):
            self.init(.fetch, "\(resource): the server sent \(count) of \(size) bytes")
        case .source(let message): self.init(.source, message)
        case .unsupported(let message): self.init(.invalidArgument, message)
        case .noThread(let fault): self.init(fault)
        case .taken: self.init(.invalidArgument, "\(resource) was received or declined before")
        case .channel(let fault): self.init(fault, in: resource)
        }
    }
}
