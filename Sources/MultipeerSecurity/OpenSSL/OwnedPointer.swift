/// One OpenSSL object with one owner, freed when the owner releases it.
@safe
struct OwnedPointer: ~Copyable {
    let pointer: OpaquePointer
    private let free: (OpaquePointer?) -> Void

    /// Returns nil when OpenSSL returned null.
    init?(_ pointer: OpaquePointer?, _ free: @escaping (OpaquePointer?) -> Void) {
        guard let pointer = unsafe pointer else { return nil }
        unsafe self.pointer = pointer
        unsafe self.free = free
    }

    /// Takes over a reference that the caller has counted.
    init(counted pointer: OpaquePointer, _ free: @escaping (OpaquePointer?) -> Void) {
        unsafe self.pointer = pointer
        unsafe self.free = free
    }

    deinit { unsafe free(pointer) }
}
