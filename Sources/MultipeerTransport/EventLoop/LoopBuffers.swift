import MultipeerFraming

/// What the clients of a loop read into, empty between two reads: only one of them reads at a time. Lives on the loop.
final class LoopBuffers {
    var ciphertext = ByteBuffer()
    var plaintext = ByteBuffer()
    /// Its memory is taken from the system as datagrams arrive.
    private(set) lazy var datagrams = DatagramReceiveBuffer()
}
