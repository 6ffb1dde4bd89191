import Foundation
package import MultipeerCore

/// The protocol between the acceptance run and a process: a line of its standard input is a command, one of its output
/// an answer.
package enum Orders {
    /// Returns the lines of standard input, read by a thread of their own.
    package static func lines() -> AsyncStream<String> {
        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        Thread.detachNewThread {
            while let line = readLine() { continuation.yield(line) }
            continuation.finish()
        }
        return stream
    }

    /// Writes a line, unbuffered, also into a pipe.
    package static func say(_ text: String) {
        FileHandle.standardOutput.write(Data((text + "\n").utf8))
    }
}

/// The reason why a process cannot carry out a command.
package struct Complaint: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

extension [UInt8] {
    package var hexadecimal: String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}

extension UID {
    /// The form in commands, answers and histories.
    package var text: String { bytes.hexadecimal }

    /// Returns nil for a text that is not a uid in hexadecimal.
    package init?(text: String) {
        let digits = Array(text)
        self.init(
            stride(from: 0, to: digits.count - 1, by: 2).compactMap {
                UInt8(String(digits[$0...($0 + 1)]), radix: 16)
            })
    }
}
