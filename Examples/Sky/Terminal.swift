import Foundation

/// Standard output and standard error.
enum Terminal {
    /// Whether the cursor can be moved there.
    static let isCapable: Bool = {
        guard isatty(STDOUT_FILENO) == 1, let kind = ProcessInfo.processInfo.environment["TERM"] else {
            return false
        }
        return !["", "dumb"].contains(kind)
    }()

    static var width: Int {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 20 else { return 80 }
        return Int(size.ws_col)
    }

    /// Text on standard output, at once.
    static func write(_ text: String) { FileHandle.standardOutput.write(Data(text.utf8)) }

    /// A line on standard error.
    static func complain(_ text: String) {
        FileHandle.standardError.write(Data("sky: \(text.printable)\n".utf8))
    }
}

/// Standard input. Reading waits, so it has a thread of its own.
enum Keyboard {
    /// Returns when there is nothing more to read, or the task is cancelled.
    static func end() async {
        let (lines, continuation) = AsyncStream<Never>.makeStream()
        Thread.detachNewThread {
            while readLine() != nil {}
            continuation.finish()
        }
        for await _ in lines {}
    }
}
