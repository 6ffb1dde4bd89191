import MultipeerFraming
import MultipeerSecurity

extension FuzzBody {
    /// Two ends of DTLS and a network that loses, duplicates, swaps, changes and invents packets. The first byte says
    /// whether they have the same key.
    package static let datagramChannel = FuzzBody("datagram-channel") { bytes throws(BrokenPromise) in
        try play(bytes, steps: 200) { try RecordStage($0.byte()) }
    }
}

private struct RecordEnd: ~Copyable {
    var channel: DatagramChannel
    /// Its packets in flight.
    var packets: [[UInt8]] = []
    var written: Set<[UInt8]> = []
    var received: Set<[UInt8]> = []
    /// Contents that were opened since the last run.
    private var opened: [[UInt8]] = []
    var fault: SecurityFault?
    private var flight = 0

    init(_ role: SecureChannel.Role, key: UInt8) throws(SecurityFault) {
        channel = try DatagramChannel(
            role: role, key: SecureBytes([UInt8](repeating: key, count: 32)), keyLog: KeyLog { _ in })
    }

    mutating func receive(_ packet: [UInt8]) {
        guard fault == nil else { return }
        do throws(SecurityFault) {
            guard channel.isEstablished else { return try channel.receive(packet.span) }
            var start = 0
            var buffer = ByteBuffer()
            while try channel.open(packet.span, from: &start, into: &buffer) != nil {
                opened.append(buffer.takeAll())
            }
        } catch { fault = error }
    }

    mutating func run(_ written: Set<[UInt8]>) throws(BrokenPromise) {
        var contents = opened
        opened = []
        if fault == nil {
            do throws(SecurityFault) {
                if try channel.handshake() {
                    var buffer = ByteBuffer()
                    while try channel.read(into: &buffer) != nil { contents.append(buffer.takeAll()) }
                }
            } catch {
                fault = error
            }
        }
        try promise(channel.flight >= flight, "flight numbers increase")
        flight = channel.flight
        for content in contents {
            try promise(written.contains(content), "content arrives as it was sent")
            try promise(received.insert(content).inserted, "and it arrives once")
        }
        channel.withRecords { packets.append([UInt8](copying: $0)) }
        try promise(
            packets.allSatisfy { $0.count <= DatagramChannel.largestBody }, "no packet exceeds the limit")
        if case .internal = fault { throw BrokenPromise(description: "the fault is internal") }
        if let fault { try promise(isPrintable("\(fault)"), "a fault is one printable line: \(fault)") }
    }

    mutating func write(_ content: [UInt8]) throws(SecurityFault) {
        guard channel.isEstablished, fault == nil else { return }
        try channel.write(content.span)
        written.insert(content)
    }

    mutating func retransmit() {
        guard fault == nil else { return }
        do throws(SecurityFault) { try channel.retransmit() } catch { fault = error }
    }
}

private struct RecordStage: FuzzStage, ~Copyable {
    private var client: RecordEnd
    private var server: RecordEnd
    private let isAgreed: Bool
    private var number = 0
    private var wasTouched = false

    init(_ choice: UInt8) throws(SecurityFault) {
        let isAgreed = choice & 1 == 0
        let client = try RecordEnd(.client, key: 1)
        let server = try RecordEnd(.server, key: isAgreed ? 1 : 2)
        self.isAgreed = isAgreed
        self.client = client
        self.server = server
    }

    mutating func step(_ input: inout InputReader) throws {
        let operation = input.byte()
        let isClient = operation & 0x80 == 0
        switch operation & 0x0F {
        case 0, 1: deliver(Int(input.byte()), toClient: isClient, keeping: false)
        case 2: deliver(Int(input.byte()), toClient: isClient, keeping: true)
        case 3: if isClient { server.packets = [] } else { client.packets = [] }
        case 4, 5:
            wasTouched = true
            change(&input, toClient: isClient)
        case 6:
            wasTouched = true
            inject(input.bytes(Int(input.byte())), toClient: isClient)
        case 7: if isClient { client.retransmit() } else { server.retransmit() }
        case 8, 9:
            number += 1
            let content = [UInt8(number >> 8), UInt8(truncatingIfNeeded: number)]
            let body = content + [UInt8](repeating: operation, count: Int(input.byte()) * 4)
            if isClient { try client.write(body) } else { try server.write(body) }
        case 10: inject([UInt8](repeating: operation, count: 1_200), toClient: isClient)
        default: try exchange()
        }
        try run()
    }

    private mutating func run() throws(BrokenPromise) {
        try client.run(server.written)
        try server.run(client.written)
        try promise(
            isAgreed || !client.channel.isEstablished && !server.channel.isEstablished,
            "no peer without the key gets through")
    }

    private mutating func deliver(_ choice: Int, toClient: Bool, keeping: Bool) {
        let packets = toClient ? server.packets : client.packets
        guard !packets.isEmpty else { return }
        let place = choice % packets.count
        inject(packets[place], toClient: toClient)
        if keeping { return }
        if toClient { server.packets.remove(at: place) } else { client.packets.remove(at: place) }
    }

    private mutating func change(_ input: inout InputReader, toClient: Bool) {
        let packets = toClient ? server.packets : client.packets
        guard var packet = packets.first, !packet.isEmpty else { return }
        let place = (Int(input.byte()) << 8 | Int(input.byte())) % packet.count
        packet[place] ^= input.byte()
        inject(packet, toClient: toClient)
    }

    private mutating func inject(_ packet: [UInt8], toClient: Bool) {
        if toClient { client.receive(packet) } else { server.receive(packet) }
    }

    /// Delivers everything.
    private mutating func exchange() throws(BrokenPromise) {
        for _ in 0..<4 {
            try run()
            for packet in client.packets { server.receive(packet) }
            for packet in server.packets { client.receive(packet) }
            client.packets = []
            server.packets = []
        }
        try run()
    }

    mutating func settle() throws(BrokenPromise) {
        guard isAgreed, !wasTouched else { return }
        for _ in 0..<10 {
            client.retransmit()
            server.retransmit()
            try exchange()
        }
        try promise(client.fault == nil && server.fault == nil, "lost packets alone cause no fault")
    }
}
