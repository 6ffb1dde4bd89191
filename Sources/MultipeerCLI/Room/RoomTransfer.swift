import MultipeerCommandLine
import MultipeerEssentials

/// A file that a peer of the room offers, on its way into a directory.
struct RoomDownload: Sendable {
    let resource: IncomingResource
    let downloads: DownloadDirectory

    /// Returns the line with the result, and whether the file is complete.
    func run() async -> (line: String, isComplete: Bool) {
        let start = ContinuousClock.now
        let name = FileName.of(label: resource.name)
        var report = TransferReport(.receiving)
        do throws(MultipeerError) {
            let file = try await resource.receive(
                into: .directory(downloads.directory), completing: downloads.completion(as: name))
            let time = start.duration(to: .now)
            let settled = FilePath(file.path).name
            let digest = file.isVerified ? file.digest : nil
            return (report.add(.init(name: settled, bytes: file.size, time: time, digest: digest)), true)
        } catch {
            return (report.fail(name, TransferReport.reason(error)), false)
        }
    }
}

/// A file, or a document of the web, on its way to a peer of the room.
struct RoomUpload: Sendable {
    let source: TransferSource
    let peer: PeerID

    /// Returns what the peer has received, once it has everything; nil for a source that cannot be offered. `note` shows where a
    /// document comes from after a redirection.
    func run(in session: Session, note: (String) -> Void) async throws(MultipeerError) -> String? {
        if source.origin == .input { return nil }
        let resource = try await source.send(to: peer, over: session)
        source.redirection(resource).map(note)
        try await resource.waitUntilReceived()
        let digest = resource.digest.map { ", sha256 \($0.hexadecimal)" } ?? ""
        return "\(source.label.printable), \(HumanReadable.bytes(resource.written))\(digest)"
    }
}
