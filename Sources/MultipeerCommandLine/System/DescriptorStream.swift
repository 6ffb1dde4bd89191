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

    package func close() { _ = MultipeerPlatform.close(descriptor) }

    /// Returns the next bytes, at most `most`; nil at the end.
    package func read(_ most: Int) throws(CommandError) -> [UInt8]? {
        while true {
            var count = 0
            let bytes = unsafe [UInt8](unsafeUninitializedCapacity: most) { buffer, used in
                count = unsafe MultipeerPlatform.read(descriptor, buffer.baseAddress, most)
                used = max(0, count)
            }
            if count >= 0 { return count == 0 ? nil : bytes }
            try retry(waitingFor: POLLIN, "cannot read \(name)")
        }
    }

    /// The same; returns nil also when the wait is cancelled.
    package func read(_ most: Int, unless cancellation: Cancellation) throws(CommandError) -> [UInt8]? {
        isReadable(unless: cancellation) ? try read(most) : nil
    }

    /// Returns everything up to the end, which must come within `limit` bytes.
    package func readAll(limit: Int) throws(CommandError) -> [UInt8] {
        var bytes: [UInt8] = []
        while let more = try read(65_536) {
            bytes += more
            guard bytes.count <= limit else {
                throw CommandError("\(name) is longer than \(limit) bytes", exit: .badInput)
            }
        }
        return bytes
    }

    /// Returns the next line without its line end, read byte by byte so that nothing after it is consumed; nil at the end, and
    /// when the wait is cancelled.
    package func readLine(
        limit: Int = 16_384, unless cancellation: Cancellation? = nil
    ) throws(CommandError) -> String? {
        var bytes: [UInt8] = []
        while isReadable(unless: cancellation), let byte = try read(1)?.first {
            guard byte != UInt8(ascii: "\n") else { return String(decoding: bytes, as: UTF8.self) }
            bytes.append(byte)
            guard bytes.count <= limit else {
                throw CommandError("line too long on \(name)", exit: .badInput)
            }
        }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }

    /// Waits until there is something to read; returns false when the wait was cancelled before.
    private func isReadable(unless cancellation: Cancellation?) -> Bool {
        guard let cancellation else { return true }
        var both = [
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: cancellation.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        while unsafe poll(&both, 2, -1) < 0, errno == EINTR {}
        return both[1].revents == 0
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
                guard errno != EPIPE else { throw CommandError("\(name) was closed", exit: .system) }
                try retry(waitingFor: POLLOUT, "cannot write to \(name)")
            }
        }
    }

    /// Continues after an interruption, and waits if the descriptor is non-blocking.
    private func retry(waitingFor event: Int32, _ text: String) throws(CommandError) {
        let code = errno
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
