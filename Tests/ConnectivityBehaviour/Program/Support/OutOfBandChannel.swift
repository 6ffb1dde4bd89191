import MultipeerConnectivity

/// The other way between the two applications of a program, as users have one when they look at each other's screens:
/// lines of text in two named pipes.
///
/// Unchecked: both handles are set once, and each is used on one thread at a time.
final class OutOfBandChannel: @unchecked Sendable {
    private let input: FileHandle
    private let output: FileHandle
    private let writing = DispatchQueue(label: "out-of-band")

    /// Opens the pipes in a folder, which the caller of both applications has made.
    init(_ role: Role, in folder: URL) throws {
        // For reading and writing, so that neither side waits for the other one here, or reads an end when it ends.
        func open(_ role: Role) throws -> FileHandle {
            try FileHandle(forUpdating: folder.appendingPathComponent("to-\(role.rawValue)"))
        }
        (input, output) = (try open(role), try open(role.other))
    }

    /// Calls `receive` for each line of the other side, on a thread of this channel.
    func start(_ receive: @escaping @Sendable (_ name: String, _ data: Data) -> Void) {
        Thread.detachNewThread { [input] in
            var buffer = Data()
            while true {
                let more = input.availableData
                if more.isEmpty { return }
                buffer += more
                while let end = buffer.firstIndex(of: 0x0a) {
                    let line = String(decoding: buffer[..<end], as: UTF8.self)
                    buffer = Data(buffer[buffer.index(after: end)...])
                    let parts = line.split(separator: "\t", omittingEmptySubsequences: false)
                    receive(String(parts[0]), Data(base64Encoded: String(parts.last ?? "")) ?? Data())
                }
            }
        }
    }

    /// Sends a line: a name, and data.
    func send(_ name: String, _ data: Data) {
        let line = Data("\(name)\t\(data.base64EncodedString())\n".utf8)
        writing.async { [output] in output.write(line) }
    }

    /// Waits until all lines are sent.
    func flush() { writing.sync {} }
}
