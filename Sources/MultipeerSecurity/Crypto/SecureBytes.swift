import CLibSSL

/// Secret bytes in memory of their own: shared, never copied by Swift, erased when the last reference is
/// released.
@safe package final class SecureBytes: Sendable {
    // Written in init, before the object is shared, and in deinit, when no reference is left. Only read in
    // between.
    private nonisolated(unsafe) let memory: UnsafeMutableBufferPointer<UInt8>

    package var count: Int { unsafe memory.count }

    package init(_ bytes: [UInt8]) {
        unsafe memory = .allocate(capacity: bytes.count)
        _ = unsafe memory.initialize(from: bytes)
    }

    /// Moves the bytes out of `bytes` and erases them there; other copies are not erased.
    package convenience init(erasing bytes: inout [UInt8]) {
        self.init(bytes)
        bytes.erase()
    }

    deinit {
        unsafe OPENSSL_cleanse(memory.baseAddress, memory.count)  // [secret.erase]
        unsafe memory.deallocate()
    }

    /// Lends the bytes.
    package func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(unsafe Span(_unsafeElements: UnsafeBufferPointer(memory)))
    }
}

extension SecureBytes: Equatable {
    /// Compares in a time that depends only on the lengths.
    package static func == (one: SecureBytes, other: SecureBytes) -> Bool {
        guard one.count == other.count else { return false }
        return unsafe CRYPTO_memcmp(one.memory.baseAddress, other.memory.baseAddress, one.count) == 0
    }
}

extension SecureBytes: CustomStringConvertible, CustomReflectable {
    package var description: String { "<secret>" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

extension [UInt8] {
    /// Overwrites the bytes in a way that the compiler cannot optimise away.
    package mutating func erase() {
        unsafe withUnsafeMutableBytes { unsafe OPENSSL_cleanse($0.baseAddress, $0.count) }  // [secret.erase]
        removeAll()
    }
}
