import Glibc

/// A port number for tests that have to name one before anything listens there.
///
/// It is below those that the system chooses by itself, so that no other socket gets it by chance, and no other test of this machine
/// uses it: for each number there is a lock, an abstract Unix socket that the process holds to its end.
package enum ReservedPort {
    package struct Unavailable: Error {}

    /// Returns a number that is free for TCP and UDP at every address, another one each time.
    package static func next() throws(Unavailable) -> UInt16 {
        for _ in 0..<1_000 {
            let number = UInt16.random(in: 20_000...29_999)
            guard lock(number) else { continue }
            if isFree(number, SOCK_STREAM), isFree(number, SOCK_DGRAM) { return number }
        }
        throw Unavailable()
    }

    /// Returns whether this process now has the number.
    private static func lock(_ number: UInt16) -> Bool {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        // The first byte is zero: the name is not in the file system.
        let name = Array("multipeer-test-port-\(number)".utf8)
        let length = socklen_t(MemoryLayout<sa_family_t>.size + 1 + name.count)
        let code = unsafe withUnsafeMutableBytes(of: &address) { bytes in
            for (index, byte) in name.enumerated() {
                unsafe bytes[MemoryLayout<sa_family_t>.size + 1 + index] = byte
            }
            return unsafe bytes.withMemoryRebound(to: sockaddr.self) {
                unsafe bind(descriptor, $0.baseAddress, length)
            }
        }
        if code != 0 { close(descriptor) }
        return code == 0
    }

    private static func isFree(_ number: UInt16, _ kind: __socket_type) -> Bool {
        let descriptor = socket(AF_INET, Int32(kind.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = number.bigEndian
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
