import MultipeerActors

extension FuzzBody {
    /// The first byte chooses what the rest is: one envelope, a value in the binary format, the name of a method with its
    /// generic arguments, or what two peers send to an exchange while it calls and is called.
    package static let callEnvelope = FuzzBody("call-envelope") { bytes throws(BrokenPromise) in
        var input = InputReader(bytes)
        switch input.byte() & 3 {
        case 0: try envelope(input.rest())
        case 1: try value(input.rest())
        case 2: try target(input.rest())
        default:
            var stage = ExchangeStage()
            while !input.isAtEnd { try stage.step(&input) }
            try stage.end()
        }
    }
}

private func envelope(_ bytes: [UInt8]) throws(BrokenPromise) {
    guard let envelope = try? Envelope(bytes.span) else { return }
    try promise(envelope.bytes == bytes, "what was read is written to the same bytes")
}

/// A type that decodes everything that can be decoded.
private struct Grab: Codable, Equatable {
    var number: Int?
    var small: UInt8?
    var real: Double?
    var flag: Bool?
    var text: String?
    var bytes: [UInt8]?
    var list: [Grab]?
    var table: [String: Int]?
}

private func value(_ bytes: [UInt8]) throws(BrokenPromise) {
    let (encoder, decoder) = (BinaryEncoder(), BinaryDecoder())
    _ = try? decoder.decode(String.self, from: bytes)
    _ = try? decoder.decode([Int: [Float]].self, from: bytes)
    _ = try? decoder.decode([[String: Int8?]].self, from: bytes)
    guard let grab = try? decoder.decode(Grab.self, from: bytes) else { return }
    let again = (try? encoder.encode(grab)).flatMap { try? decoder.decode(Grab.self, from: $0) }
    // A value that is not equal to itself need not be.
    try promise(grab != grab || again == grab, "a value that was read and written is read unchanged")
}

/// Checks that a target that may be called begins with the type and continues with a name, whatever the rest is. The
/// names of generic arguments follow, each after a zero.
private func target(_ bytes: [UInt8]) throws(BrokenPromise) {
    let type = Array("6Worker6WorkerC".utf8)
    let words = bytes.split(separator: 0, omittingEmptySubsequences: false).map {
        String(decoding: $0, as: UTF8.self)
    }
    let target = words.first ?? ""
    try CallPermit.ask(target, Array(words.dropFirst().prefix(Envelope.Limit.generics)))
    guard TargetName(target).isMember(of: type) else { return }
    try promise(target.hasPrefix("$s6Worker6WorkerC") && target.hasSuffix("TE"), "it is a thunk of the type")
    let next = target.utf8.dropFirst(17).first ?? 0
    try promise((48...57).contains(next), "an identifier follows the type")
}
