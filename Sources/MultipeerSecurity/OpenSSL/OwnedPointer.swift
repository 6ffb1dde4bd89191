/// One OpenSSL object with one owner, freed when the owner lets go.
@safe
struct OwnedPointer: ~Copyable {
    let pointer: OpaquePointer
    private let free: (OpaquePointer?) -> Void

    /// Returns nil when OpenSSL made nothing.
    init?(_ pointer: OpaquePointer?, _ free: @escaping (OpaquePointer?) -> Void) {
        guard let pointer = unsafe pointer else { return nil }
        unsafe self.pointer = pointer
        unsafe self.free = free
    }

    deinit { unsafe free(pointer) }
}
