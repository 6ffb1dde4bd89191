import MultipeerEssentials

/// A descriptor that is read and written with blocking calls: a standard stream, a terminal, a pipe or a file.
package struct DescriptorStream: Sendable {
    package let descriptor: Int32
    /// Its name in error messages.
    package let name: String

    package static let input = DescriptorStream(descriptor: STDIN_FILENO, name: "standard input")
    package static let output = DescriptorStream(descriptor: STDOUT_FILENO, name: "standard output")
    package static let error = DescriptorStream(descriptor: STDERR_FILENO, name: "standard error")

    package init(descriptor: Int32, name: String) {
        self.descriptor = descriptor
        self.name = name
    }

    /// Opens a file, a pipe or a device that has a path.
    package init(opening path: String, _ flags: Int32 = O_RDONLY) throws(CommandError) {
        descriptor = Descriptors.open(path, flags | O_CLOEXEC)
        name = path.printable
        guard descriptor >= 0 else { throw DescriptorStream.failure("cannot read \(name)") }
    }

    package var isTerminal: Bool { isatty(descriptor) == 1 }

    /// Whether it is the terminal of this process's shell, and another program is in the foreground there.
    package var isInBackground: Bool {
        let foreground = tcgetpgrp(descriptor)
        return foreground >= 0 && foreground != getpgrp()
    }

    package func close() { _ = MultipeerPlatform.close(descriptor) }

    /// Returns the next bytes, at most `most`; nil at the end. In the background of a terminal the process is stopped.
    package func read(_ most: Int) throws(CommandError) -> [UInt8]? {
        while true {
            let (bytes, code) = attempt(most)
            if let bytes { return bytes.isEmpty ? nil : bytes }
            guard code == EIO, isInBackground else {
                try retry(code, waitingFor: POLLIN, "cannot read \(name)")
                continue
            }
            let (more, problem) = SignalHandler.stoppable { attempt(most) }
            if let more { return more.isEmpty ? nil : more }
            // No shell would continue the process.
            try retry(problem, waitingFor: POLLIN, "cannot read \(name) in the background")
        }
    }

    /// Returns the bytes that a call reads, or the error.
    private func attempt(_ most: Int) -> (bytes: [UInt8]?, code: Int32) {
        var (count, code) = (0, Int32(0))
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: most) { buffer, used in
            count = unsafe MultipeerPlatform.read(descriptor, buffer.baseAddress, most)
            code = errno
            used = max(0, count)
        }
        return (count >= 0 ? bytes : nil, code)
    }

    /// Returns the next bytes, at most `most`, for a command that goes on with other work meanwhile: in the background of a
    /// terminal it waits for the foreground. Returns nil at the end, and when the wait is cancelled.
    package func readInForeground(
        _ most: Int, unless cancellation: Cancellation? = nil
    ) throws(CommandError) -> [UInt8]? {
        while isReadable(unless: cancellation) {
            if isInBackground {
                // What there is to read is for another program.
                pause(unless: cancellation)
                continue
            }
            let (bytes, code) = attempt(most)
            if let bytes { return bytes.isEmpty ? nil : bytes }
            if code != EIO || !isInBackground {
                try retry(code, waitingFor: POLLIN, "cannot read \(name)")
            }
        }
        return nil
    }

    /// Returns everything up to the end, which must come within `limit` bytes. `isWaiting`: the first writer of a FIFO that was
    /// opened without waiting is waited for.
    package func readAll(limit: Int, isWaiting: Bool = false) throws(CommandError) -> [UInt8] {
        var bytes: [UInt8] = []
        if isWaiting { _ = isReadable(unless: nil) }
        while let more = try read(65_536) {
            bytes += more
            guard bytes.count <= limit else {
                throw CommandError("\(name) is longer than \(limit) bytes", exit: .badInput)
            }
        }
        return bytes
    }

    /// Returns the next line without its line end, read byte by byte so that nothing after it is consumed; nil at the end, and
    /// when the wait is cancelled. `isWhole`: a line without an end is none. `isWaiting`: in the background this waits.
    package func readLine(
        limit: Int = 16_384, isWhole: Bool = false, isWaiting: Bool = false,
        unless cancellation: Cancellation? = nil
    ) throws(CommandError) -> String? {
        var bytes: [UInt8] = []
        while let byte = try nextByte(isWaiting, unless: cancellation) {
            guard byte != UInt8(ascii: "\n") else { return String(decoding: bytes, as: UTF8.self) }
            bytes.append(byte)
            guard bytes.count <= limit else {
                throw CommandError("line too long on \(name)", exit: .badInput)
            }
        }
        return bytes.isEmpty || isWhole ? nil : String(decoding: bytes, as: UTF8.self)
    }

    private func nextByte(_ isWaiting: Bool, unless cancellation: Cancellation?) throws(CommandError)
        -> UInt8?
    {
        if isWaiting { return try readInForeground(1, unless: cancellation)?.first }
        guard let cancellation else { return try read(1)?.first }
        return isReadable(unless: cancellation) ? try read(1)?.first : nil
    }

    /// Waits until there is something to read; returns false when the wait was cancelled before.
    private func isReadable(unless cancellation: Cancellation?) -> Bool {
        var both = [
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: cancellation?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
        ]
        while unsafe poll(&both, 2, -1) < 0, errno == EINTR {}
        return both[1].revents == 0
    }

    /// Waits for a moment, or until the wait is cancelled.
    private func pause(unless cancellation: Cancellation?) {
        var one = pollfd(fd: cancellation?.descriptor ?? -1, events: Int16(POLLIN), revents: 0)
        _ = unsafe poll(&one, 1, Int32(TerminalHold.pace / .milliseconds(1)))
    }

    /// Returns once this process may read the terminal. In the background it is stopped; where no shell would continue it, this
    /// throws.
    func comeToForeground() throws(CommandError) {
        while isInBackground {
            // What is typed there now is for another program: nothing is waited for.
            let probe = try DescriptorStream(opening: "/dev/tty", O_RDONLY | O_NONBLOCK)
            defer { probe.close() }
            let (_, code) = SignalHandler.stoppable { probe.attempt(1) }
            if isInBackground, code == EIO {
                throw DescriptorStream.failure("cannot read \(name) in the background", code)
            }
        }
    }

    /// Writes all bytes, and waits until that is done.
    package func write(_ bytes: [UInt8]) throws(CommandError) {
        var done = 0
        while done < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { bytes in
                unsafe MultipeerPlatform.write(
                    descriptor, bytes.baseAddress?.advanced(by: done), bytes.count - done)
            }
            if count >= 0 {
                done += count
            } else {
                let code = errno
                guard code != EPIPE else { throw CommandError("\(name) was closed", exit: .system) }
                try retry(code, waitingFor: POLLOUT, "cannot write to \(name)")
            }
        }
    }

    /// Continues after an interruption, and waits if the descriptor is non-blocking.
    private func retry(
        _ code: Int32, waitingFor event: Int32, _ text: String
    ) throws(CommandError) {
        if code == EINTR { return }
        guard code == EAGAIN else { throw DescriptorStream.failure(text, code) }
        var one = pollfd(fd: descriptor, events: Int16(event), revents: 0)
        _ = unsafe poll(&one, 1, -1)
    }

    /// Returns an error with the system's message for the last call.
    package static func failure(_ text: String, _ code: Int32 = errno) -> CommandError {
        CommandError("\(text): \(reason(code))", exit: .system)
    }

    /// Returns the system's message for an error.
    package static func reason(_ code: Int32) -> String { SystemMessage.text(code) }
}
