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

    /// How much can be seen there.
    static var size: Size {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return Size()
        }
        return Size(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }

    /// What was closed when this process began would be opened again for something else, a socket say, and be written to.
    /// In its place comes what nothing can be read from, and nothing be written to.
    static func reserve() {
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO]
        where fcntl(descriptor, F_GETFD) == -1 {
            _ = open("/dev/null", O_RDONLY)  // the lowest number that is free
        }
    }

    /// Text on standard output, at once. Ends the process when it cannot be written: nobody would see what comes of it.
    static func write(_ text: String) {
        guard let error = put(text, on: STDOUT_FILENO) else { return }
        complain("cannot write to standard output: \(String(cString: strerror(error)))")
        // Other threads are at work, and are not to see what they use taken down.
        _exit(1)
    }

    /// A line on standard error. When that cannot be written, there is nobody to tell.
    static func complain(_ text: String) { _ = put("sky: \(text.printable)\n", on: STDERR_FILENO) }
}

/// Writes all of it; answers why that cannot be done.
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
            // Somebody who shares it does not want to wait. Here there is time.
            var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            _ = poll(&room, 1, -1)
        case let error: return error
        }
    }
    return nil
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
