public import MultipeerCore
import MultipeerFraming
public import MultipeerTransport

extension Session {
    /// Sends the file at `path`, and returns as soon as it is on its way.
    ///
    /// The file is read while it is sent, as many bytes as it has at this moment. When the peer has as many files and
    /// streams open as it accepts (64 by default), the call waits. The peer receives `name` (1 to 1,024 bytes; default: the
    /// last component of the path) and `metadata` (at most 1,024 bytes). With `digest` the peer checks the SHA-256 of the
    /// file. If an earlier transfer of a file of at least 1 MiB broke, and the peer has kept what it received, only the rest is
    /// sent, unless the peer's part is not how the file begins now; this needs the digest. With `resumable` false it is sent from
    /// its first byte, without asking.
    ///
    /// ```swift
    /// let sending = try await session.send(fileAt: "picture.jpg", to: bob)
    /// try await sending.waitUntilReceived()
    /// ```
    ///
    /// Throws before the peer learns of the file: `notConnected` when the peer is not connected, `file` when there is no
    /// such file or it is not a regular file, `invalidArgument` for a name or metadata of another length, `ended` when the link
    /// ends while waiting, `tooManyFiles` when no file that this process sends or receives could give up its descriptor, and
    /// `cancelled` when the task is cancelled while waiting.
    public func send(
        fileAt path: String, to peer: PeerID, name: String? = nil, metadata: [UInt8]? = nil,
        digest: Bool = true,
        resumable: Bool = true
    ) async throws(MultipeerError) -> OutgoingResource {
        let name = name ?? FilePath(path).name
        return try await send(
            fileAt: { () throws(ResourceFault) in path }, to: peer, name: name, metadata: metadata,
            digest: digest,
            resumable: resumable)
    }

    /// Sends the file whose path `path` returns, once the peer is known to be connected; otherwise like `send(fileAt:to:)`.
    package func send(
        fileAt path: () throws(ResourceFault) -> String, to peer: PeerID, name: String, metadata: [UInt8]?,
        digest: Bool, resumable: Bool
    ) async throws(MultipeerError) -> OutgoingResource {
        try await send(to: peer, name, metadata, digest, resumable) { worker throws(ResourceFault) in
            let path = try path()
            let opening = SmallFileOpening(to: peer.uid, name: name, metadata: metadata, digest: digest)
            return try await begin(opening, worker) { () throws(FileFault) in
                try SmallFile.read(try FileSource(path), digest: digest)
            }
        }
    }

    /// Sends a file that `source` opens, on a thread of the file pool; otherwise like `send(fileAt:to:)`.
    package func send(
        opening source: @escaping @Sendable () throws(FileFault) -> FileSource, to peer: PeerID,
        name: String, metadata: [UInt8]? = nil, digest: Bool = true, resumable: Bool = true
    ) async throws(MultipeerError) -> OutgoingResource {
        try await send(to: peer, name, metadata, digest, resumable) { worker throws(ResourceFault) in
            let opening = SmallFileOpening(to: peer.uid, name: name, metadata: metadata, digest: digest)
            return try await begin(opening, worker) { () throws(FileFault) in
                try SmallFile.read(try source(), digest: digest)
            }
        }
    }

    /// Sends bytes that `contents` returns, at most `SmallFile.longestWhole`, on a thread of the file pool, where it may block.
    package func send(
        whole contents: @escaping @Sendable () throws(FileFault) -> [UInt8], to peer: PeerID, name: String,
        metadata: [UInt8]? = nil, digest: Bool = true
    ) async throws(MultipeerError) -> OutgoingResource {
        try await send(to: peer, name, metadata, digest) { worker throws(ResourceFault) in
            let opening = SmallFileOpening(to: peer.uid, name: name, metadata: metadata, digest: digest)
            return try await begin(opening, worker) { () throws(FileFault) in
                .small(SmallFile(try contents(), digest: digest))
            }
        }
    }

    private func begin(
        _ opening: SmallFileOpening, _ worker: EventLoop, _ source: @escaping SmallFileOpening.Source
    ) async throws(ResourceFault) -> (any PieceSource, ChannelSender?) {
        switch await opening.open(source, on: worker, for: driver) {
        case .sent(let sender, let file): return (file, sender)
        case .long(let file): return (file, nil)
        case .failed(let fault): throw fault
        }
    }

    /// Sends the bytes of an asynchronous sequence as a file, and returns as soon as it is on its way.
    ///
    /// Use it for content that is produced while it is sent, or that is not a file: a camera's recording, an archive, the body
    /// of a response. The next element is requested once the previous one is on its way, so a slow peer slows down the source.
    /// The peer receives a file like any other: `name` has 1 to 1,024 bytes, `metadata` at most 1,024. With `size`, which
    /// the sequence then must have exactly, both sides see the fraction that is completed; without it, only the count.
    ///
    /// ```swift
    /// let sending = try await session.send(contentsOf: recording.chunks, to: bob, name: "song.opus")
    /// try await sending.waitUntilReceived()
    /// ```
    ///
    /// The sequence is read in a task of the transfer. When the transfer ends, the task is cancelled, and the sequence
    /// released. When the sequence throws, or its length is not `size`, the peer keeps nothing and `waitUntilReceived()`
    /// throws `source`. Otherwise throws like `send(fileAt:to:)`.
    public func send<Source: AsyncSequence>(
        contentsOf source: sending Source, size: UInt64? = nil, to peer: PeerID, name: String,
        metadata: [UInt8]? = nil, digest: Bool = true
    ) async throws(MultipeerError) -> OutgoingResource where Source.Element: Sequence<UInt8> {
        try await send(
            SequenceSource(source, size: size), to: peer, name: name, metadata: metadata, digest: digest)
    }

    /// Sends bytes from any source.
    package func send(
        _ source: any PieceSource, to peer: PeerID, name: String, metadata: [UInt8]? = nil,
        digest: Bool = true
    ) async throws(MultipeerError) -> OutgoingResource {
        try await send(to: peer, name, metadata, digest) { _ throws(ResourceFault) in (source, nil) }
    }

    /// Sends bytes whose source is opened once the peer is known to be connected. What opens it may have begun to send it.
    package func send(
        to peer: PeerID, _ name: String, _ metadata: [UInt8]?, _ digest: Bool, _ isResumable: Bool = false,
        from open: (EventLoop) async throws(ResourceFault) -> (any PieceSource, ChannelSender?)
    ) async throws(MultipeerError) -> OutgoingResource {
        guard (1...Limits.channelName).contains(name.utf8.count) else {
            throw MultipeerError(.invalidArgument, "a name has 1 to 1,024 bytes, not \(name.utf8.count)")
        }
        if let metadata, metadata.count > Limits.channelMetadata {
            throw MultipeerError(.invalidArgument, "metadata has at most 1,024 bytes, not \(metadata.count)")
        }
        do throws(ResourceFault) {
            guard driver.queues.links[peer.uid] != nil else { throw .channel(.notLinked) }
            let worker = try EventLoop.nextForFiles()
            let (source, sender) = try await open(worker)
            if let sender { return OutgoingResource(sender, source, digest: digest, on: worker) }
            let hasSize = source.size.map { $0 >= Resumption.smallestFile } ?? false
            let opening = ChannelOpening(
                kind: .resource, name: name, size: source.size, metadata: metadata, hasNoDigest: !digest,
                isResumable: isResumable && digest && hasSize && source is any RepeatableSource)
            do throws(ChannelFault) {
                let sender = try await driver.open(opening, to: peer.uid)
                return OutgoingResource(sender, source, digest: digest, on: worker)
            } catch {
                source.cancel()
                throw .channel(error)
            }
        } catch {
            throw MultipeerError(error, of: "the file to \(peer)")
        }
    }
}

extension OutgoingResource {
    /// Waits until the receiver has closed the file, complete and as promised.
    ///
    /// Throws the reason why it has not arrived: `cancelled`, `declined`, `damaged`, `noSpace`, `tooManyFiles`, `busy`, `aborted`, `file`,
    /// `fetch`, `source`, or `ended` with the disconnect reason. Cancelling the waiting task throws `cancelled`, too; the
    /// transfer itself goes on until `cancel`. Any number of tasks may wait.
    public func waitUntilReceived() async throws(MultipeerError) {
        switch await outcome() {
        case .arrived: return
        case .failed(let fault): throw MultipeerError(fault, of: "the file to \(peer)")
        case nil: throw MultipeerError(.cancelled, "waiting for the transfer was cancelled")
        }
    }
}

extension IncomingResource {
    /// Receives the file into the session's own directory, under a random name, readable only by its owner.
    ///
    /// The file appears once it is complete, closed, and has the promised size and digest; otherwise no part of it is kept. The
    /// session's own directory is inside the system's temporary directory: move the file away. With `synchronizing`, the sender
    /// is notified, and the call returns, only once the file is on disk and survives a power failure.
    ///
    /// While this process has too many open files, further ones wait until others have arrived, and their senders with them.
    ///
    /// With `resuming`, a file whose transfer breaks with the link or the process goes on with the next transfer of that file from
    /// the same peer with the same key.
    ///
    /// Throws `cancelled` when either side or the task cancelled the transfer; `damaged`, `busy`, `aborted`, `noSpace`,
    /// `tooManyFiles` when waiting for a descriptor would not help, `file` when the directory or the disk is not usable, `ended` with
    /// the disconnect reason, and `invalidArgument` when the file was received or declined before.
    public func receive(
        synchronizing: Bool = false, resuming: Resumption? = nil
    ) async throws(MultipeerError) -> IncomingResource.File {
        try await receive(
            into: .session, resuming: resuming, completing: Completion(isSynchronized: synchronizing))
    }

    /// Receives the file into the directory at `path`, which exists; otherwise like `receive(synchronizing:resuming:)`.
    public func receive(
        intoDirectoryAt path: String, synchronizing: Bool = false, resuming: Resumption? = nil
    ) async throws(MultipeerError) -> IncomingResource.File {
        try await receive(
            into: .directory(path), resuming: resuming, completing: Completion(isSynchronized: synchronizing))
    }

    /// Receives the file as the one at `path`, in a directory that exists, readable only by its owner.
    ///
    /// The sender is notified that it has received the file only once the file has this name: if it cannot get it, the sender's
    /// `waitUntilReceived()` throws, too. An existing file is replaced only with `replacing`, in one step, and a directory
    /// never. Never make this path from the `name` of the resource without checking it: it may contain anything.
    ///
    /// Throws like `receive(synchronizing:resuming:)`, and `file` when the name is taken.
    public func receive(
        asFileAt path: String, replacing: Bool = false, synchronizing: Bool = false,
        resuming: Resumption? = nil
    ) async throws(MultipeerError) -> IncomingResource.File {
        let completion = Completion(isSynchronized: synchronizing) { draft throws(FileFault) in
            try FileRename.move(draft, path, replacing: replacing)
            return path
        }
        // A name without a directory is one in the current directory, and what begins with a slash may be in the root.
        let directory = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[...$0]) } ?? "."
        return try await receive(into: .directory(directory), resuming: resuming, completing: completion)
    }

    /// Receives a file of at most `limit` bytes in any place; one that turns out to be longer is declined.
    package func receive(
        into place: Place, atMost limit: UInt64 = .max, resuming: Resumption? = nil,
        completing completion: Completion = Completion()
    ) async throws(MultipeerError) -> IncomingResource.File {
        do throws(ResourceFault) {
            return try await receive(
                into: place, as: resuming.flatMap(unfinishedFile), atMost: limit, completing: completion,
                on: worker())
        } catch {
            throw MultipeerError(error, of: "the file from \(peer)")
        }
    }

    /// Receives all of its bytes in memory, at most `limit`, and confirms them to the sender once `body` has returned, which gets them
    /// when their size and digest are those that were promised. It runs on a thread of the file pool, where it may block; from then
    /// on nothing cancels the transfer. The sender is notified when it throws.
    package func receiveWhole(
        atMost limit: Int, _ body: @escaping IncomingResource.Saving
    ) async throws(MultipeerError) {
        do throws(ResourceFault) {
            try await receiveWhole(atMost: limit, body, on: worker())
        } catch {
            throw MultipeerError(error, of: "the file from \(peer)")
        }
    }

    /// Returns a thread for the file; its sender is notified if there can be none.
    private func worker() throws(ResourceFault) -> EventLoop {
        do throws(ResourceFault) {
            return try EventLoop.nextForFiles()
        } catch {
            refuse(error)
            throw error
        }
    }

    private func unfinishedFile(_ resumption: Resumption) -> UnfinishedFile? {
        // Without a key any peer could be the sender next time. [resource.partial]
        guard let size, let peerKey else { return nil }
        return UnfinishedFile(
            label: FileName.shortened(FileName.of(label: name), to: UnfinishedFile.longestLabel),
            from: peer.uid, with: peerKey, named: name, size: size, key: resumption.key,
            lifetime: resumption.lifetime)
    }

    /// Receives the file into a directory of its own, which is removed with `folder` unless files are left in it. The name is one
    /// path component. If its transfer breaks, the next one of that file from the same peer goes on there.
    package func receive(
        into folder: ResourceFolder, as name: String
    ) async throws(MultipeerError) -> IncomingResource.File {
        do throws(ResourceFault) {
            return try await receive(
                into: .folder(folder), as: unfinishedFile(.standard),
                completing: Completion(naming: name, in: folder), on: worker())
        } catch {
            throw MultipeerError(error, of: "the file from \(peer)")
        }
    }
}

extension EventLoop {
    static func nextForFiles() throws(ResourceFault) -> EventLoop {
        do throws(SocketFault) { return try EventLoop.nextFileLoop() } catch { throw .noThread(error) }
    }
}
