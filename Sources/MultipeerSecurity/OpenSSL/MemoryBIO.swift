import CLibSSL

/// A growing memory BIO for OpenSSL's text and DER writers. OpenSSL erases the memory that it frees.
@safe
struct MemoryBIO: ~Copyable {
    let bio: OpaquePointer

    init?() {
        guard let bio = unsafe BIO_new(BIO_s_secmem()) else { return nil }
        unsafe self.bio = bio
    }

    deinit { unsafe BIO_free_all(bio) }

    func contents() -> [UInt8] {
        var start: UnsafeMutablePointer<UInt8>?
        let count = unsafe multipeer_bio_contents(bio, &start)
        return unsafe Array(UnsafeBufferPointer(start: start, count: count))
    }
}
