import MultipeerDiscovery

/// The bytes of a hand-made message, each of which can be wrong.
struct Packet {
    var bytes: [UInt8] = []

    /// Creates a message with its header of 12 bytes.
    init(
        id: UInt16 = 0, flags: UInt16 = 0, questions: Int = 0, answers: Int = 0, authorities: Int = 0,
        additionals: Int = 0
    ) {
        add(id)
        add(flags)
        for count in [questions, answers, authorities, additionals] { add(UInt16(count)) }
    }

    mutating func add(_ value: UInt16) { bytes += [UInt8(value >> 8), UInt8(value & 0xFF)] }

    /// Adds labels with their lengths, without an end.
    mutating func add(labels: [String]) {
        for label in labels { bytes += [UInt8(label.utf8.count)] + Array(label.utf8) }
    }

    mutating func add(pointer place: Int) { add(0xC000 | UInt16(place)) }

    /// Adds type and class of a question, after its name.
    mutating func endQuestion(_ type: UInt16 = 12, _ code: UInt16 = 1) {
        add(type)
        add(code)
    }

    /// Adds everything of a record after its name.
    mutating func endRecord(_ type: UInt16, _ data: [UInt8]) { endRecord(type, 1, ttl: 120, data) }

    mutating func endRecord(_ type: UInt16, _ code: UInt16 = 1, ttl: UInt16 = 120, _ data: [UInt8]) {
        endQuestion(type, code)
        add(0)
        add(ttl)
        add(UInt16(data.count))
        bytes += data
    }

    /// The result of parsing them.
    var message: Result<DNSMessage, DNSFault> { read(bytes) }
}

func read(_ bytes: [UInt8]) -> Result<DNSMessage, DNSFault> {
    do { return .success(try DNSMessage(bytes.span)) } catch { return .failure(error) }
}

/// Returns the bytes of lower-case hexadecimal.
func hex(_ text: String) -> [UInt8] {
    let digits = text.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}
