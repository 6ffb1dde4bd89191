import MultipeerConnectivity

extension Application {
    /// Writes data to a stream on the main run loop, at most `chunk` bytes at each event, and closes it, unless it is
    /// not to.
    @discardableResult
    func write(
        _ stream: OutputStream, _ name: String, _ data: Data, chunk: Int = 65_536, closes: Bool = true
    ) -> StreamWriter {
        StreamWriter(stream, name, data, for: self, chunk: chunk, closes: closes)
    }

    /// Reads every stream from now on.
    @discardableResult
    func readStreams(in runLoop: RunLoop = .main, chunk: Int = 65_536) -> StreamReaders {
        let readers = StreamReaders()
        onStream = { [unowned self] stream, name, _ in
            readers.add(name) { StreamReader(stream, name, for: self, in: runLoop, chunk: chunk) }
        }
        return readers
    }
}
