import MultipeerConnectivity

/// The delegate of a stream to the other application: writes data and closes the stream, and records when it is over.
///
/// Unchecked: its state is guarded; the stream is used by the delegate calls alone, until it is over.
final class StreamWriter: NSObject, StreamDelegate, @unchecked Sendable {
    let stream: OutputStream
    private let name: String
    private let record: EventRecord
    private let chunk: Int
    private let closes: Bool
    private var rest: Data
    @Guarded private(set) var events: [String] = []
    /// The code of the error with which it has ended.
    @Guarded private(set) var code: String?

    /// Opens the stream. At each event it writes at most `chunk` bytes; then it closes the stream, or leaves it open.
    init(
        _ stream: OutputStream, _ name: String, _ data: Data, for application: Application,
        in runLoop: RunLoop = .main,
        chunk: Int = 65_536, closes: Bool = true
    ) {
        (self.stream, self.name, rest, record) = (stream, name, data, application.record)
        (self.chunk, self.closes) = (chunk, closes)
        super.init()
        application.keep(self)
        stream.delegate = self
        stream.schedule(in: runLoop, forMode: .default)
        stream.open()
    }

    func stream(_ aStream: Stream, handle eventCode: Stream.Event) {
        let word = eventCode.word
        $events.change { if $0.last != word { $0.append(word) } }
        switch eventCode {
        case .hasSpaceAvailable: write()
        case .errorOccurred:
            code = stream.streamError.map { codeName(of: $0) }
            stream.close()
            record.note(.stream, "writing \(name) failed")
        default: break
        }
    }

    private func write() {
        if rest.isEmpty {
            if !closes { return }
            stream.close()
            stream.remove(from: .current, forMode: .default)
            return record.note(.stream, "wrote \(name)")
        }
        let part = [UInt8](rest.prefix(chunk))
        let count = stream.write(part, maxLength: part.count)
        if count > 0 { rest = rest.dropFirst(count) }
        if rest.isEmpty, !closes { record.note(.stream, "wrote \(name)") }
    }
}
