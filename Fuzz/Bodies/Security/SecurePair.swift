import MultipeerCore
import MultipeerFraming
import MultipeerSecurity

extension FuzzBody {
    /// Two ends that hold each other's keys, or not, and a network that cuts, changes and invents. The first byte says
    /// which end expects which key, and over what: a link, a plain link, or the connection of an invitation.
    package static let securePair = FuzzBody("secure-pair") { bytes throws(BrokenPromise) in
        guard let cast else { throw BrokenPromise(description: "no keys for the harness") }
        try play(bytes, steps: 200) { try PairStage($0.byte(), cast) }
    }
}

/// Created once: generating keys is slow.
private let cast = try? PairFixture()

private struct PairFixture: Sendable {
    let identities: [Identity]
    let contexts: [TLSContext]
    let invitations: [InvitationTLS]

    init() throws {
        identities = try [Identity.generated(commonName: "one"), .generated()]
        contexts = try identities.map { try TLSContext(identity: $0) }
        invitations = try [InvitationTLS(keyLog: KeyLog { _ in }), InvitationTLS()]
    }
}

private struct PairEnd: ~Copyable {
    var channel: SecureChannel
    /// Its bytes in flight.
    var wire: [UInt8] = []
    var written: [UInt8] = []
    var received: [UInt8] = []
    /// The number of bytes that were compared with what the other end wrote.
    private var compared = 0
    var fault: SecurityFault?
    var isOpen = false
    var hasClosed = false
    var receivedClose = false

    init(_ channel: consuming SecureChannel) { self.channel = channel }

    /// Runs as far as it can.
    mutating func run(reading limit: Int) throws(BrokenPromise) {
        if fault == nil {
            do throws(SecurityFault) { try advance(limit) } catch { fault = error }
        }
        channel.withOutput { (bytes: Span<UInt8>) in
            wire += [UInt8](copying: bytes)
            return bytes.count
        }
        try promise(channel.outputCount == 0, "output that was taken is gone")
        guard let fault else { return }
        guard case .peer = fault else {
            throw BrokenPromise(description: "the fault of an attack is \(fault)")
        }
        try promise(isPrintable("\(fault)"), "a fault is one printable line: \(fault)")
    }

    private mutating func advance(_ limit: Int) throws(SecurityFault) {
        isOpen = try channel.handshake()
        guard isOpen else { return }
        var buffer = ByteBuffer()
        while true {
            switch try channel.read(into: &buffer, upTo: limit) {
            case .bytes: received += buffer.takeAll()
            case .message: continue
            case .needsInput: return
            case .closed:
                receivedClose = true
                try channel.end()
                return
            }
        }
    }

    mutating func receive(_ bytes: [UInt8]) {
        guard fault == nil else { return }
        do throws(SecurityFault) { try channel.receive(bytes.span) } catch { fault = error }
    }

    mutating func write(_ bytes: [UInt8]) throws(SecurityFault) {
        guard isOpen, fault == nil, !hasClosed else { return }
        var buffer = ByteBuffer()
        buffer.append(bytes)
        try channel.write(contentsOf: &buffer)
        written += bytes
    }

    /// Returns whether everything that was received is what the other end wrote, from the first byte on.
    mutating func hasReceived(beginningOf written: [UInt8]) -> Bool {
        defer { compared = received.count }
        return received.count <= written.count
            && received[compared...].elementsEqual(written[compared..<received.count])
    }

    mutating func close() {
        hasClosed = true
        channel.close()
    }
}

private struct PairStage: FuzzStage, ~Copyable {
    private var client: PairEnd
    private var server: PairEnd
    private let isPlain: Bool
    private let shouldLink: Bool
    private var wasTouched = false

    init(_ choice: UInt8, _ cast: PairFixture) throws(SecurityFault) {
        let (knowsServer, knowsClient) = (choice & 1 == 0, choice & 2 == 0)
        let kind = choice & 0x0C
        let client = try Self.channel(.client, kind, cast, knowing: knowsServer ? 1 : nil)
        let server = try Self.channel(.server, kind, cast, knowing: knowsClient ? 0 : nil)
        self.client = PairEnd(client)
        self.server = PairEnd(server)
        isPlain = kind == 4
        shouldLink = kind == 4 || kind == 8 || knowsServer && knowsClient
    }

    private static func channel(
        _ role: SecureChannel.Role, _ kind: UInt8, _ cast: PairFixture, knowing other: Int?
    ) throws(SecurityFault) -> SecureChannel {
        let own = role == .client ? 0 : 1
        if kind == 4 { return .plain() }
        if kind == 8 { return try cast.invitations[own].channel(role) }
        // An end that knows no peer expects itself.
        let awaited = cast.identities[other ?? own]
        return try .tls(
            cast.contexts[own], role: role, accepting: [CertificatePin(awaited.fingerprint, of: awaited.uid)])
    }

    mutating func step(_ input: inout InputReader) throws {
        let operation = input.byte()
        let isClient = operation & 0x80 == 0
        switch operation & 7 {
        case 0, 1: try deliver(Int(input.byte()) * 4 + 1, toClient: isClient)
        case 2: try deliver(.max, toClient: isClient)
        case 3:
            wasTouched = true
            flip(Int(input.byte()) << 8 | Int(input.byte()), toClient: isClient)
        case 4:
            wasTouched = true
            let bytes = input.bytes(Int(input.byte()))
            if isClient { client.receive(bytes) } else { server.receive(bytes) }
        case 5:
            let bytes = [UInt8](repeating: operation, count: Int(input.byte()) * 16)
            if isClient { try client.write(bytes) } else { try server.write(bytes) }
        case 6: if isClient { client.close() } else { server.close() }
        default:
            wasTouched = true
            let count = Int(input.byte())
            if isClient { server.wire.removeFirst(min(count, server.wire.count)) }
            if !isClient { client.wire.removeFirst(min(count, client.wire.count)) }
        }
        let limit = 1 + Int(operation & 0x70) * 10
        try client.run(reading: limit)
        try server.run(reading: limit)
        try check()
    }

    private mutating func deliver(_ count: Int, toClient: Bool) throws {
        if toClient {
            let bytes = Array(server.wire.prefix(count))
            server.wire.removeFirst(bytes.count)
            client.receive(bytes)
        } else {
            let bytes = Array(client.wire.prefix(count))
            client.wire.removeFirst(bytes.count)
            server.receive(bytes)
        }
    }

    private mutating func flip(_ bit: Int, toClient: Bool) {
        if toClient, !server.wire.isEmpty { server.wire[bit / 8 % server.wire.count] ^= 1 << UInt8(bit % 8) }
        if !toClient, !client.wire.isEmpty { client.wire[bit / 8 % client.wire.count] ^= 1 << UInt8(bit % 8) }
    }

    private mutating func check() throws(BrokenPromise) {
        // Plain links deliver what a man in the middle did, and nothing else is wrong with them.
        if !isPlain || !wasTouched {
            let isSaid = (
                client.hasReceived(beginningOf: server.written),
                server.hasReceived(beginningOf: client.written)
            )
            try promise(isSaid.0 && isSaid.1, "data arrives as it was sent, in order")
        }
        try promise(shouldLink || !server.isOpen, "an unexpected peer gets nowhere")
        try promise(
            !client.receivedClose || server.hasClosed, "only the peer can close gracefully")
    }

    mutating func settle() throws {
        for _ in 0..<8 {
            try client.run(reading: 4_096)
            try server.run(reading: 4_096)
            try deliver(.max, toClient: true)
            try deliver(.max, toClient: false)
        }
        try check()
        guard !wasTouched, shouldLink else { return }
        try promise(client.isOpen && server.isOpen, "two ends that expect each other connect")
        try promise(client.fault == nil && server.fault == nil, "and have no fault")
        if client.hasClosed || server.hasClosed { return }
        try promise(client.received == server.written, "everything arrives")
        try promise(
            client.channel.suite == server.channel.suite && (client.channel.suite == nil) == isPlain,
            "both report the same cipher suite")
        let keys = try? (
            client.channel.exportKey(label: "EXPORTER-x", context: [1], count: 32),
            server.channel.exportKey(label: "EXPORTER-x", context: [1], count: 32)
        )
        try promise(isPlain ? keys == nil : keys?.0 == keys?.1 && keys != nil, "both export the same key")
        try promise(
            client.channel.peerChain.first?.fingerprint == client.channel.peerFingerprint,
            "the leaf is the certificate that was compared")
        try promise((server.channel.peerFingerprint == nil) == isPlain, "a plain link shows no key")
    }
}

func isPrintable(_ text: String) -> Bool {
    !text.isEmpty && text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
}
