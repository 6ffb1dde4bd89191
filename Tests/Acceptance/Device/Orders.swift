import MultipeerConnectivity

/// The lines of standard input, one after the other.
struct Orders {
    /// Whether the run loop of the main thread, and with it the main queue, runs while there is no command.
    let runsMainLoop: Bool
    private var read = Data()

    init(runsMainLoop: Bool) { self.runsMainLoop = runsMainLoop }

    /// Returns the next line; nil at the end of standard input.
    mutating func next() -> String? {
        while true {
            if let end = read.firstIndex(of: 0x0a) {
                defer { read = Data(read[read.index(after: end)...]) }
                return String(decoding: read[..<end], as: UTF8.self)
            }
            if runsMainLoop { serveMainLoop() }
            let more = FileHandle.standardInput.availableData
            if more.isEmpty { return nil }
            read += more
        }
    }

    private func serveMainLoop() {
        var input = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
        while unsafe poll(&input, 1, 0) == 0 {
            // Without a source it returns at once.
            if !RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.01)) { usleep(1_000) }
        }
    }
}
