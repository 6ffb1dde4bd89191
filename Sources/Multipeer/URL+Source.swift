package import MultipeerFoundation
package import MultipeerTransport

extension URL {
    /// The default name of a file at this URL.
    package var label: String {
        // Asking Foundation for the last component takes longer than all else that is done with the URL of a file.
        if isFileURL {
            let path = path
            let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
            let last = slash.map { path[path.utf8.index(after: $0)...] } ?? path[...]
            // Foundation leaves some characters encoded in one of the two, and not in the other.
            if !last.isEmpty, !last.utf8.contains(UInt8(ascii: "%")) { return String(last) }
        }
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
