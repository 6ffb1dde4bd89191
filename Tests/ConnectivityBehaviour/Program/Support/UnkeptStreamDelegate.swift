import MultipeerConnectivity

/// The delegate of a stream that it does not keep: it reads or writes a word, and closes the stream.
final class UnkeptStreamDelegate: NSObject, StreamDelegate {
    private let application: Application

    init(_ application: Application) { self.application = application }

    func stream(_ aStream: Stream, handle eventCode: Stream.Event) {
        switch (aStream, eventCode) {
        case (let stream as InputStream, .hasBytesAvailable):
            var buffer = [UInt8](repeating: 0, count: 100)
            let count = stream.read(&buffer, maxLength: 100)
            application.note("read \(String(decoding: buffer.prefix(max(0, count)), as: UTF8.self))")
        case (let stream as OutputStream, .hasSpaceAvailable):
            _ = stream.write([UInt8]("hello".utf8), maxLength: 5)
            stream.close()
            application.note("written")
        default: break
        }
    }
}
