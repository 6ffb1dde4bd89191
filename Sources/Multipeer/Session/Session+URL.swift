public import MultipeerCore
public import MultipeerEssentials
public import MultipeerFoundation
public import MultipeerTransport

// Files as URLs.
extension Session {
    /// Sends a file, and returns as soon as it is on its way.
    ///
    /// The file is read while it is sent, as many bytes as it has at this moment. When the peer has as many files and
    /// streams open as it accepts (64 by default), the call waits. The peer receives `name` (1 to 1,024 bytes; default: the
    /// last component of the URL) and `metadata` (at most 1,024 bytes). With `digest` the peer checks the SHA-256 of the
    /// file. If an earlier transfer of a file of at least 1 MiB broke, and the peer has kept what it received, only the rest is
    /// sent, unless the peer's part is not how the file begins now; this needs the digest. With `resumable` false it is sent from
    /// its first byte, without asking. A document of a web server is sent with `send(document:to:)` of the module `MultipeerWeb`.
    ///
    /// ```swift
    /// let sending = try await session.send(file: URL(fileURLWithPath: "picture.jpg"), to: bob)
    /// for await progress in sending.progress { print(progress) }
    /// try await sending.waitUntilReceived()
    /// ```
    ///
    /// Throws before the peer learns of the file: `notConnected` when the peer is not connected, `file` when there is no
    /// such file or it is not a regular file, `invalidArgument` for a name or metadata of another length and for a URL that
    /// is not a file URL, `ended` when the link ends while waiting, and `cancelled` when the task is cancelled while
    /// waiting.
    public func send(
        file url: URL, to peer: PeerID, name: String? = nil, metadata: [UInt8]? = nil, digest: Bool = true,
        resumable: Bool = true
    ) async throws(MultipeerError) -> OutgoingResource {
        try await send(
            fileAt: { () throws(ResourceFault) in try url.sentPath() }, to: peer, name: name ?? url.label,
            metadata: metadata, digest: digest, resumable: resumable)
    }
}

extension IncomingResource {
    /// Receives the file into `directory`, or with nil into the session's own directory, under a random name, readable only by
    /// its owner.
    ///
    /// The file appears once it is complete, closed, and has the promised size and digest; otherwise no part of it is kept. The
    /// session's own directory is inside the system's temporary directory: move the file away. With `synchronizing`, the sender
    /// is notified, and the call returns, only once the file is on disk and survives a power failure.
    ///
    /// With `resuming`, a file in `directory` whose transfer breaks with the link or the process goes on with the next transfer of
    /// that file from the same peer.
    ///
    /// Throws `cancelled` when either side or the task cancelled the transfer; `damaged`, `busy`, `aborted`, `noSpace`, `file`
    /// when the directory or the disk is not usable, `ended` with the disconnect reason, and `invalidArgument` when the file
    /// was received or declined before.
    public func receive(
        into directory: URL?, synchronizing: Bool = false, resuming: Resumption? = nil
    ) async throws(MultipeerError) -> IncomingResource.File {
        try await receive(
            into: directory, resuming: resuming, completing: Completion(isSynchronized: synchronizing))
    }

    /// Receives the file as `file`, in a directory that exists, readable only by its owner.
    ///
    /// The sender is notified that it has received the file only once the file has this name: if it cannot get it, the sender's
    /// `waitUntilReceived()` throws, too. An existing file is replaced only with `replacing`, in one step, and a directory
    /// never. Never make this path from the `name` of the resource without checking it: it may contain anything.
    ///
    /// Throws like `receive(into:synchronizing:resuming:)`, and `file` when the name is taken.
    public func receive(
        as file: URL, replacing: Bool = false, synchronizing: Bool = false, resuming: Resumption? = nil
    ) async throws(MultipeerError) -> IncomingResource.File {
        let path = file.path
        let completion = Completion(isSynchronized: synchronizing) { draft throws(FileFault) in
            try FileRename.move(draft, path, replacing: replacing)
            return path
        }
        return try await receive(
            into: file.deletingLastPathComponent(), resuming: resuming, completing: completion)
    }

    /// Receives a file of at most `limit` bytes; one that turns out to be longer is declined.
    package func receive(
        into directory: URL?, atMost limit: UInt64 = .max, resuming: Resumption? = nil,
        completing completion: Completion
    ) async throws(MultipeerError) -> IncomingResource.File {
        let place: Place
        do throws(ResourceFault) {
            place = if let directory { .directory(try directory.filePath()) } else { .session }
        } catch {
            throw MultipeerError(error, of: "the file from \(peer)")
        }
        return try await receive(into: place, atMost: limit, resuming: resuming, completing: completion)
    }
}

extension IncomingResource.File {
    /// The location as a URL.
    public var url: URL { URL(fileURLWithPath: path, isDirectory: false) }
}
