import MultipeerCommandLine
import MultipeerEssentials
import MultipeerFetch

/// A document of the web, fetched by the program `curl`, whose libraries and authorities are those of the system: this program
/// then needs neither. A pipe holds curl back, so unread data waits at the server.
final class CurlDocument: WebDocument {
    private static let piece = 262_016
    /// A head is never longer, as in other clients.
    private static let longestHead = 262_144

    private struct State {
        /// What was read after the head.
        var rest: [UInt8] = []
        var isOver = false
    }

    private let url: String
    private let child: ChildProcess
    private let worker = Worker("curl")
    private let state = Locked(State())

    static let open: WebSource.Client = { (url, address, timeLimit) throws(ResourceFault) in
        try CurlDocument(url, address, timeLimit)
    }

    private init(_ url: WebURL, _ address: WebResolver.Address?, _ timeLimit: Duration) throws(ResourceFault)
    {
        self.url = url.shown
        guard let program = CurlDocument.program else {
            throw .fetch("\(url.shown): fetching it needs the program curl, which is not installed")
        }
        do throws(CommandError) {
            child = try ChildProcess(
                program, CurlDocument.arguments(url, address, timeLimit), catchingErrors: true)
        } catch {
            throw .fetch("\(url.shown): \(error.text)")
        }
        child.input.close()
    }

    deinit { cancel() }

    private static var program: String? {
        let path = Environment.value("PATH") ?? ""
        let folders = path.pieces(at: ":").map(String.init)
        return folders.map { "\($0)/curl" }.first { path in
            path.begins(with: "/") && FileSystem.isExecutable(path)
        }
    }

    private static func arguments(
        _ url: WebURL, _ address: WebResolver.Address?, _ timeLimit: Duration
    ) -> [String] {
        let seconds = "\(max(1, timeLimit.components.seconds))"
        // The user's own settings of curl could make it follow redirections, or write elsewhere.
        var words = [
            "--disable", "--silent", "--show-error", "--include", "--suppress-connect-headers", "--no-buffer",
            "--globoff", "--proto", "=http,https", "--http1.1", "--connect-timeout", seconds,
            "--speed-limit", "1", "--speed-time", seconds,
        ]
        if let address, !url.isVersion6 {
            // Unlike `--resolve`, this holds for a proxy, too: it is asked for a tunnel to the address, not for the name.
            let port = url.effectivePort
            words += ["--connect-to", "\(url.host):\(port):\(address.text):\(port)"]
        }
        return words + ["--url", url.text]
    }

    func head() async throws(ResourceFault) -> WebHead {
        var bytes: [UInt8] = []
        while true {
            if let (head, count) = WebHead.parsed(bytes) {
                state.withLock { [bytes] in $0.rest = Array(bytes[count...]) }
                return head
            }
            guard bytes.count < CurlDocument.longestHead, let more = try await read() else {
                cancel()
                throw .fetch("\(url): no response")
            }
            bytes += more
        }
    }

    func next() async throws(ResourceFault) -> [UInt8]? {
        let rest = state.withLock { state in
            defer { state.rest = [] }
            return state.rest
        }
        return rest.isEmpty ? try await read() : rest
    }

    func cancel() {
        let isFirst = state.withLock { state in
            defer { state.isOver = true }
            return !state.isOver
        }
        guard isFirst else { return }
        child.signal(SIGKILL)
        worker.post { [child] in
            child.wait()
            child.output.close()
            child.error?.close()
        }
    }

    /// Returns what curl has written; nil at the end of the document. Throws what it says when it fails.
    private func read() async throws(ResourceFault) -> [UInt8]? {
        guard !state.withLock(\.isOver) else { return nil }
        do throws(CommandError) {
            return try await worker.run { [self] () throws(CommandError) in try step() }
        } catch {
            throw Task.isCancelled ? .cancelled : .fetch("\(url): \(error.text)")
        }
    }

    /// On the worker's thread.
    private func step() throws(CommandError) -> [UInt8]? {
        if let bytes = try child.output.read(CurlDocument.piece) { return bytes }
        let words = try child.error?.readAll(limit: 4_096) ?? []
        let code = child.wait()
        // 18: the document is shorter than its length says, which the reader finds out by itself.
        guard code != 0, code != 18 else { return nil }
        let line = String(decoding: words, as: UTF8.self).pieces(at: "\n").last.map(String.init)
        let text = line.map { $0.rest(after: "curl: ").map(String.init) ?? $0 }
        throw CommandError((text ?? "curl ended with exit code \(code)").printable, exit: .system)
    }
}

extension WebHead {
    /// Returns the head of the final response, and where its body begins; nil while it is not complete.
    static func parsed(_ bytes: [UInt8]) -> (head: WebHead, count: Int)? {
        var start = 0
        while let end = end(of: bytes, from: start) {
            let lines = String(decoding: bytes[start..<end], as: UTF8.self).lines
            let words = lines.first?.pieces(at: " ") ?? []
            guard words.count > 1, words[0].begins(with: "HTTP/"), let status = Int(words[1]) else {
                return (WebHead(status: 0, length: nil, location: nil), end)
            }
            start = end
            // 100 to 199 precede the response.
            guard !(100..<200).contains(status) else { continue }
            return (WebHead(status, lines.dropFirst()), end)
        }
        return nil
    }

    private init(_ status: Int, _ lines: ArraySlice<Substring>) {
        var fields: [String: String] = [:]
        for line in lines {
            let parts = line.pieces(at: ":", atMost: 2, keepingEmpty: true)
            guard parts.count == 2 else { continue }
            fields[parts[0].lowercased()] = parts[1].withoutSpacesAround
        }
        let isWhole =
            fields["transfer-encoding"] == nil && (fields["content-encoding"] ?? "identity") == "identity"
        self.init(
            status: status, length: isWhole ? fields["content-length"].flatMap(UInt64.init) : nil,
            location: fields["location"])
    }

    /// Returns where the head that begins at `start` has ended.
    private static func end(of bytes: [UInt8], from start: Int) -> Int? {
        let mark = Array("\r\n\r\n".utf8)
        guard bytes.count >= start + mark.count else { return nil }
        return (start...bytes.count - mark.count).first { bytes[$0..<$0 + mark.count].elementsEqual(mark) }
            .map { $0 + mark.count }
    }
}
