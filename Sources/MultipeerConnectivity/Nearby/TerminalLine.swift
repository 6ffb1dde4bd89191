import Foundation
import MultipeerPlatform
import MultipeerTransport

/// One question on a terminal, and the line that is typed as the answer.
final class TerminalLine: Sendable {
    private let terminal: Int32
    /// A byte in it ends the wait.
    private let wake: (reading: Int32, writing: Int32)
    private static let longest = 4_096

    /// Returns nil without a terminal, or when this process is in its background: it would be stopped for reading.
    init?(_ path: String) {
        let descriptor = Descriptors.open(path, O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { return nil }
        let foreground = tcgetpgrp(descriptor)
        guard isatty(descriptor) == 1, foreground < 0 || foreground == getpgrp() else {
            close(descriptor)
            return nil
        }
        guard let ends = Descriptors.pipe() else {
            close(descriptor)
            return nil
        }
        terminal = descriptor
        wake = ends
    }

    deinit {
        for descriptor in [terminal, wake.reading, wake.writing] { close(descriptor) }
    }

    /// Returns the line that is typed after the prompt; nil when the terminal is gone, or the task was cancelled. Discards
    /// anything that was typed before.
    func ask(_ prompt: String) async -> String? {
        _ = tcflush(terminal, TCIFLUSH)
        write(prompt)
        let answer = Promise<String?>()
        // A separate thread: the user may take any time.
        let thread = Thread { [self] in answer.send(read()) }
        thread.name = "invitation"
        thread.start()
        return await answer.value(onCancel: { self.give(up: wake.writing) })
    }

    /// Writes to the terminal; ignores one that is gone.
    func write(_ text: String) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = unsafe bytes.withUnsafeBytes {
                unsafe MultipeerPlatform.write(terminal, $0.baseAddress, $0.count)
            }
            guard count > 0 else { return }
            bytes = bytes.dropFirst(count)
        }
    }

    private func give(up descriptor: Int32) {
        var byte: UInt8 = 0
        _ = unsafe MultipeerPlatform.write(descriptor, &byte, 1)
    }

    private func read() -> String? {
        var line: [UInt8] = []
        while true {
            var waiting = [
                pollfd(fd: terminal, events: Int16(POLLIN), revents: 0),
                pollfd(fd: wake.reading, events: Int16(POLLIN), revents: 0),
            ]
            let count = unsafe poll(&waiting, 2, -1)
            if count < 0, errno == EINTR { continue }
            guard count > 0, waiting[1].revents == 0 else { return nil }
            var bytes = [UInt8](repeating: 0, count: 1_024)
            let got = unsafe MultipeerPlatform.read(terminal, &bytes, bytes.count)
            guard got > 0 else { return nil }
            line += bytes.prefix(got)
            if let end = line.firstIndex(of: UInt8(ascii: "\n")) {
                return String(decoding: line[..<end], as: UTF8.self)
            }
            if line.count > TerminalLine.longest { return nil }
        }
    }
}
