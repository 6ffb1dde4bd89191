#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif
package import MultipeerTransport

extension URL {
    /// The default name of a file at this URL.
    package var label: String {
        let last = lastPathComponent
        return last.isEmpty || last == "/" ? host ?? "" : last
    }

    /// Opens the file at this URL, on `worker`'s thread.
    func file(on worker: EventLoop, digest: Bool) async throws(ResourceFault) -> any PieceSource {
        switch scheme?.lowercased() {
        case "file": break
        case "http", "https":
            throw .unsupported(
                "only file URLs can be sent: send(document:) of MultipeerWeb sends \(scheme ?? "") URLs")
        default: throw .unsupported("only file URLs can be sent, not \(scheme ?? "one without scheme")")
        }
        let path = try filePath()
        let opening = Task(executorPreference: worker.taskExecutor) {
            Result { () throws(FileFault) in try SmallFile.source(path, digest: digest) }
        }
        return try await opening.value.mapError(ResourceFault.file).get()
    }

    /// Returns the path of a file of this machine.
    func filePath() throws(ResourceFault) -> String {
        guard isFileURL else { throw .unsupported("a directory is named by a file URL") }
        guard ["", "localhost"].contains(host ?? "") else {
            throw .unsupported("the file is on another machine: \(host ?? "")")
        }
        return path
    }
}

extension FileSource {
    /// Opens a file of this machine at once, so that it may be removed while it is being sent. Blocks as `open` does.
    package convenience init(at url: URL) throws(MultipeerError) {
        do throws(ResourceFault) {
            let path = try url.filePath()
            do throws(FileFault) { try self.init(path) } catch { throw .file(error) }
        } catch {
            throw MultipeerError(error, of: "the file")
        }
    }
}
