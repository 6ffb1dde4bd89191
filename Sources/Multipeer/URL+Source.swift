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

    /// Returns the path of a file that is sent.
    func sentPath() throws(ResourceFault) -> String {
        if isFileURL { return try localPath() }
        switch scheme?.lowercased() {
        case "http", "https":
            throw .unsupported(
                "only file URLs can be sent: send(document:) of MultipeerWeb sends \(scheme ?? "") URLs")
        default: throw .unsupported("only file URLs can be sent, not \(scheme ?? "one without scheme")")
        }
    }

    /// Returns the path of a file of this machine.
    func filePath() throws(ResourceFault) -> String {
        guard isFileURL else { throw .unsupported("a directory is named by a file URL") }
        return try localPath()
    }

    private func localPath() throws(ResourceFault) -> String {
        if let host, !host.isEmpty, host != "localhost" {
            throw .unsupported("the file is on another machine: \(host)")
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
