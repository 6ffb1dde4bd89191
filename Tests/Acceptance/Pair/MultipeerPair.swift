import MultipeerConnectivity

/// One of two applications that find each other, connect, and do one thing, for the acceptance run. Run it twice, with the
/// same service type and `MULTIPEER_INTERFACES=lo`. It ends at the end of its standard input.
@main
enum MultipeerPair {
    static func main() {
        signal(SIGPIPE, SIG_IGN)
        let words = Array(CommandLine.arguments.dropFirst())
        guard let task = task(words) else {
            print(
                "usage: MultipeerPair meet NAME TYPE eager|lazy | write-streams NAME TYPE COUNT | "
                    + "read-streams NAME TYPE COUNT | send-file NAME TYPE PATH | receive-file NAME TYPE PATH")
            exit(2)
        }
        Thread.detachNewThread {
            _ = FileHandle.standardInput.readDataToEndOfFile()
            exit(0)
        }
        Task { @MainActor in
            do { print("done: \(try await task())") } catch { print("failed: \(error)") }
            fflush(stdout)
        }
        while true { RunLoop.main.run() }
    }

    private static func task(_ words: [String]) -> (@MainActor () async throws -> String)? {
        guard words.count == 4 else { return nil }
        let companion = Companion(words[1], serviceType: words[2], makesSessionLate: words[3] == "lazy")
        switch (words[0], Int(words[3])) {
        case ("meet", _) where ["eager", "lazy"].contains(words[3]):
            return { try await companion.meet() }
        case ("write-streams", let count?): return { try await ShortStreams(companion, count).write() }
        case ("read-streams", let count?): return { try await ShortStreams(companion, count).read() }
        case ("send-file", _): return { try await LargeFile(companion, at: words[3]).send() }
        case ("receive-file", _): return { try await LargeFile(companion, at: words[3]).receive() }
        default: return nil
        }
    }
}

/// Why an application did not observe what it must.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
