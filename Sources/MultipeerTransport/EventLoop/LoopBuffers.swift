import MultipeerFraming

/// What the clients of a loop read into, empty between two reads: only one of them reads at a time. Lives on the loop.
final class LoopBuffers {
    /// Of a connection. An object of its own, because retaining one that has weak references, as this has, takes longer.
    final class Stream {
        var ciphertext = ByteBuffer()
        var plaintext = ByteBuffer()
    }

    let stream = Stream()
    /// Its memory is taken from the system as datagrams arrive.
    private(set) lazy var datagrams = DatagramReceiveBuffer()
}
