import MultipeerConnectivity

/// Writes 40,000 bytes whenever there is room, fifty times.
final class WholeWriter: NSObject, StreamDelegate, @unchecked Sendable {
    // Unchecked: the stream is used by the delegate calls alone.
    private let stream: OutputStream
    private let application: Application
    @Guarded private(set) var counts: [Int] = []

    init(_ stream: OutputStream, _ application: Application) {
        (self.stream, self.application) = (stream, application)
        super.init()
        stream.delegate = self
        stream.schedule(in: .main, forMode: .default)
        stream.open()
    }

    func stream(_ aStream: Stream, handle eventCode: Stream.Event) {
        guard eventCode == .hasSpaceAvailable, counts.count < 50 else { return }
        let count = stream.write([UInt8](repeating: 7, count: 40_000), maxLength: 40_000)
        $counts.change { $0.append(count) }
        guard counts.count == 50 else { return }
        stream.close()
        application.note("all writes are made")
    }
}
