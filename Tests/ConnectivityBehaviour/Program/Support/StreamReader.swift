import MultipeerConnectivity

/// The delegate of a stream that the other application opened: reads everything, on the main run loop unless another
/// one is given, and records when it is over.
///
/// Unchecked: its state is guarded; the stream is used by the delegate calls alone, until it is over.
final class StreamReader: NSObject, StreamDelegate, @unchecked Sendable {
    let stream: InputStream
    private let name: String
    private let record: EventRecord
    private let chunk: Int
    private let thread = Thread.current
    @Guarded private(set) var bytes = Data()
    /// The kinds of events, each one named when it differs from the one before.
    @Guarded private(set) var events: [String] = []
    /// Whether each call was on the thread that made this reader.
    @Guarded private(set) var isOnOwnThread = true
    @Guarded private(set) var isOver = false
    /// The code of the error with which it has ended.
    @Guarded private(set) var code: String?

    /// Opens the stream. At each event it reads at most `chunk` bytes.
    init(
        _ stream: InputStream, _ name: String, for application: Application, in runLoop: RunLoop = .main,
        chunk: Int = 65_536
    ) {
        (self.stream, self.name, record, self.chunk) = (stream, name, application.record, chunk)
        super.init()
        application.keep(self)
        stream.delegate = self
        stream.schedule(in: runLoop, forMode: .default)
        stream.open()
    }

    func stream(_ aStream: Stream, handle eventCode: Stream.Event) {
        if Thread.current !== thread { isOnOwnThread = false }
        note(eventCode)
        switch eventCode {
        case .hasBytesAvailable: read()
        case .endEncountered:
            close()
            record.note(.stream, "read \(name) to its end")
        case .errorOccurred:
            code = stream.streamError.map { codeName(of: $0) }
            close()
            record.note(.stream, "reading \(name) failed")
        default: break
        }
    }

    private func read() {
        var buffer = [UInt8](repeating: 0, count: chunk)
        let count = stream.read(&buffer, maxLength: chunk)
        guard count > 0 else { return }
        let isFirst = bytes.isEmpty
        $bytes.change { $0.append(contentsOf: buffer.prefix(count)) }
        if isFirst { record.note(.stream, "reading \(name)") }
    }

    private func close() {
        isOver = true
        stream.close()
        stream.remove(from: .current, forMode: .default)
    }

    private func note(_ event: Stream.Event) {
        let word = event.word
        $events.change { if $0.last != word { $0.append(word) } }
    }
}

extension Stream.Event {
    /// The kind of the event.
    var word: String {
        switch self {
        case .openCompleted: "open"
        case .hasBytesAvailable: "bytes"
        case .hasSpaceAvailable: "space"
        case .endEncountered: "end"
        case .errorOccurred: "error"
        default: "\(rawValue)"
        }
    }
}
