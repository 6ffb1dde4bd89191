import MultipeerConnectivity

/// The readers of all streams that an application receives, by the names of the streams.
final class StreamReaders: Sendable {
    private let readers = Guarded<[String: StreamReader]>(wrappedValue: [:])

    subscript(name: String) -> StreamReader? {
        get { readers.wrappedValue[name] }
    }

    /// Makes a reader, which is found by its name from its first event on.
    func add(_ name: String, _ make: () -> StreamReader) { readers.change { $0[name] = make() } }
}
