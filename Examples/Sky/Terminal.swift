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

    struct Size: Hashable {
        var columns = 80
        var rows = 24
    }

    /// The size of the terminal.
    static var size: Size {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return Size()
        }
        return Size(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }

    /// Opens standard descriptors that were closed when this process began: otherwise one would be reused for something
    /// else, for example a socket, and output would be written to it. The new ones give no input and discard output.
    static func reserve() {
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO]
        where fcntl(descriptor, F_GETFD) == -1 {
            _ = open("/dev/null", O_RDONLY)  // the lowest number that is free
        }
    }

    /// Writes text to standard output, unbuffered. Ends the process when it cannot be written: its output would be lost.
    static func write(_ text: String) {
        guard let error = put(text, on: STDOUT_FILENO) else { return }
        complain("cannot write to standard output: \(String(cString: strerror(error)))")
        // Other threads are running, and must not see their objects destroyed.
        _exit(1)
    }

    /// Writes a line to standard error. If that fails, the error cannot be reported anywhere.
    static func complain(_ text: String) { _ = put("sky: \(text.printable)\n", on: STDERR_FILENO) }
}

/// Writes all of it; returns the error when it fails.
private func put(_ text: String, on descriptor: Int32) -> Int32? {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        if count >= 0 {
            rest.removeFirst(count)
            continue
        }
        switch errno {
        case EINTR: continue
        case EAGAIN:
            // Another process that shares the descriptor has made it non-blocking. This one can wait.
            var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            _ = poll(&room, 1, -1)
        case let error: return error
        }
    }
    return nil
}

/// Standard input. Reading blocks, so it has a thread of its own.
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
