import CLibSSL

/// The state of the callbacks of one DTLS handshake: the key, and the positions of a flight's repetitions in the
/// output.
///
/// libssl repeats a flight only when its own timer expires, and reads the clock for that in every call. To leave
/// timing to the owner, that timer is disabled: libssl asks this callback how long to wait before it repeats a
/// flight; the callback returns 1 µs, so libssl repeats the flight at once; after a fixed number of repetitions it
/// returns the maximum. All of that happens inside the call that made the flight. The repetitions, each with its own
/// record numbers, are kept until the owner requests them.
///
/// The callbacks run inside calls of libssl, and therefore on the owner's thread.
@safe
final class DatagramFlights {
    /// libssl gives up after 12 repetitions; the schedule of Spec 10 needs 9 in the 10 s of a handshake.
    static let repetitions = 10
    static let identity = Array("mpc/1".utf8)

    /// Released, and thereby erased, when the handshake is over.
    private var key: SecureBytes?
    private let wire: UnsafeMutablePointer<multipeer_wire>
    private let keyLog: KeyLog?
    /// The offset in the output at which each repetition begins.
    private var marks: [Int] = []

    init(key: SecureBytes, wire: UnsafeMutablePointer<multipeer_wire>, keyLog: KeyLog?) {
        self.key = key
        self.keyLog = keyLog
        unsafe self.wire = wire
    }

    func attach(to ssl: OpaquePointer) {
        _ = unsafe SSL_set_ex_data(ssl, 0, Unmanaged.passUnretained(self).toOpaque())
        unsafe DTLS_set_timer_cb(ssl, Self.wait)
    }

    func forgetKey() { key = nil }  // [secret.erase]

    /// Returns the offsets of the repetitions of the flight that the last call made; empty when it made none.
    func takeMarks() -> [Int] {
        defer { marks = [] }
        return marks
    }

    /// Returns the flights that are attached to a connection. The connection's owner keeps them alive.
    private static func of(_ ssl: OpaquePointer?) -> DatagramFlights? {
        guard let data = unsafe SSL_get_ex_data(ssl, 0) else { return nil }
        return unsafe Unmanaged<DatagramFlights>.fromOpaque(data).takeUnretainedValue()
    }
}

// MARK: - Callbacks

extension DatagramFlights {
    /// Returns how many microseconds libssl waits before it repeats a flight: called when the flight begins (`last`
    /// is 0) and right before each repetition.
    private static let wait: @convention(c) (OpaquePointer?, CUnsignedInt) -> CUnsignedInt = { ssl, last in
        guard let flights = unsafe DatagramFlights.of(ssl) else { return CUnsignedInt.max }
        if last != 0 { flights.marks.append(unsafe multipeer_wire_pending(flights.wire)) }
        return flights.marks.count < DatagramFlights.repetitions ? 1 : CUnsignedInt.max
    }

    static let log: @convention(c) (OpaquePointer?, UnsafePointer<CChar>?) -> Void = { ssl, line in
        guard let line = unsafe line, let flights = unsafe DatagramFlights.of(ssl) else { return }
        flights.keyLog?.write(unsafe String(cString: line))
    }

    static let keyOfClient:
        @convention(c) (
            OpaquePointer?, UnsafePointer<CChar>?, UnsafeMutablePointer<CChar>?, CUnsignedInt,
            UnsafeMutablePointer<UInt8>?, CUnsignedInt
        ) -> CUnsignedInt = { ssl, _, name, nameRoom, room, count in
            guard let name = unsafe name, Int(nameRoom) > identity.count else { return 0 }
            for (index, byte) in (identity + [0]).enumerated() {
                unsafe name[index] = CChar(bitPattern: byte)
            }
            return unsafe DatagramFlights.of(ssl)?.copyKey(to: room, count) ?? 0
        }

    static let keyOfServer:
        @convention(c) (
            OpaquePointer?, UnsafePointer<CChar>?, UnsafeMutablePointer<UInt8>?, CUnsignedInt
        ) -> CUnsignedInt = { ssl, name, room, count in
            guard let name = unsafe name, unsafe String(cString: name).utf8.elementsEqual(identity) else {
                return 0
            }
            return unsafe DatagramFlights.of(ssl)?.copyKey(to: room, count) ?? 0
        }

    /// Copies the key and returns its length, or 0, which ends the handshake.
    private func copyKey(to room: UnsafeMutablePointer<UInt8>?, _ count: CUnsignedInt) -> CUnsignedInt {
        guard let key, let room = unsafe room, key.count <= Int(count) else { return 0 }
        key.withBytes { bytes in
            for index in bytes.indices { unsafe room[index] = bytes[index] }
        }
        return CUnsignedInt(key.count)
    }
}
