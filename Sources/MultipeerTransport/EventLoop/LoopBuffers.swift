import MultipeerFraming

/// What the clients of a loop read into, empty between two reads: only one of them reads at a time. Lives on the loop.
final class LoopBuffers {
    /// Those of a connection.
    struct Stream: ~Copyable {
        var ciphertext = ByteBuffer()
        var plaintext = ByteBuffer()
    }

    /// Lends the buffers of a connection for the time in which it is read: Swift checks each access to a property of an object
    /// while the program runs, and none to a value that is passed on.
    ///
    /// An object of its own, because retaining one that has weak references, as the other has, takes longer.
    final class StreamStore {
        private final var stream = Stream()

        func take() -> Stream {
            var taken = Stream()
            swap(&taken, &stream)
            return taken
        }

        func putBack(_ taken: consuming Stream) { stream = taken }
    }

    let streams = StreamStore()
    /// Its memory is taken from the system as datagrams arrive.
    private(set) lazy var datagrams = DatagramReceiveBuffer()
}
