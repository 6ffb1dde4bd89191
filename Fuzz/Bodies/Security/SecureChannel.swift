import MultipeerFraming
import MultipeerSecurity

extension FuzzBody {
    /// The first byte chooses the channel, the next ones how the rest is cut; the rest comes from a peer without a key.
    package static let secureChannel = FuzzBody("secure-channel") { bytes throws(BrokenPromise) in
        var input = InputReader(bytes)
        let role = input.byte() % 3
        let size = Int(input.byte()) + 1
        do {
            switch role {
            case 0:
                try feed(try .tls(stage.context, role: .server, accepting: [stage.pin]), input, size)
            case 1:
                try feed(try .tls(stage.context, role: .client, accepting: [stage.pin]), input, size)
            default: try feed(.plain(), input, size)
            }
        } catch let fault as SecurityFault {
            guard case .peer = fault else {
                throw BrokenPromise(description: "the fault of an attack is \(fault)")
            }
        } catch let broken as BrokenPromise {
            throw broken
        } catch {
            throw BrokenPromise(description: "an error of another type: \(error)")
        }
    }
}

/// What all attacks share, created once: generating a key is slow.
private let stage = Stage()

private struct Stage {
    let context: TLSContext
    let pin: CertificatePin

    init() {
        do {
            context = try TLSContext(identity: try Identity.generated())
            let awaited = try Identity.generated()
            pin = CertificatePin(awaited.fingerprint, of: awaited.uid)
        } catch {
            fatalError("no key for the harness: \(error)")
        }
    }
}

private func feed(_ channel: consuming SecureChannel, _ script: InputReader, _ size: Int) throws {
    var script = script
    var received: [UInt8] = []
    var delivered: [UInt8] = []
    var buffer = ByteBuffer()
    while !script.isAtEnd {
        let piece = script.bytes(size)
        received += piece
        try channel.receive(piece.span)
        let isOpen = try channel.handshake()
        channel.withOutput { $0.count }
        guard isOpen else { continue }
        try promise(!channel.isEncrypted, "no peer without a key completes a handshake")
        while case .bytes = try channel.read(into: &buffer, upTo: 100) { delivered += buffer.takeAll() }
    }
    try promise(
        delivered == Array(received.dropFirst(8)) || channel.isEncrypted && delivered.isEmpty,
        "a plain channel delivers what follows the preface, an encrypted one nothing")
}
