import MultipeerFraming
import MultipeerSecurity
import TestSupport

/// One end of a DTLS association, with everything it received.
struct DatagramEnd: ~Copyable {
    var channel: DatagramChannel
    private(set) var isEstablished = false
    private(set) var received: [[UInt8]] = []
    private(set) var fault: SecurityFault?

    init(_ role: SecureChannel.Role, key: [UInt8], keyLog: KeyLog? = nil) throws {
        channel = try DatagramChannel(role: role, key: SecureBytes(key), keyLog: keyLog)
    }

    /// Continues the handshake, then reads until nothing is left.
    mutating func step() {
        guard fault == nil else { return }
        do throws(SecurityFault) {
            guard try channel.handshake() else { return }
            isEstablished = true
            var buffer = ByteBuffer()
            while try channel.read(into: &buffer) != nil { received.append(buffer.takeAll()) }
        } catch { fault = error }
    }

    /// As the owner of a channel does: after the handshake a datagram is opened where it lies.
    mutating func receive(_ datagram: [UInt8]) {
        guard fault == nil else { return }
        do throws(SecurityFault) {
            if isEstablished { return try open(datagram) }
            try channel.receive(datagram.span)
        } catch { fault = error }
        step()
    }

    private mutating func open(_ datagram: [UInt8]) throws(SecurityFault) {
        var start = 0
        var buffer = ByteBuffer()
        while try channel.open(datagram.span, from: &start, into: &buffer) != nil {
            received.append(buffer.takeAll())
        }
    }

    mutating func write(_ content: [UInt8]) throws { try channel.write(content.span) }

    mutating func takeDatagrams() -> [[UInt8]] {
        var datagrams: [[UInt8]] = []
        channel.withRecords { datagrams.append([UInt8](copying: $0)) }
        return datagrams
    }

    mutating func takeReceived() -> [[UInt8]] {
        defer { received = [] }
        return received
    }
}

/// Two ends, and a wire that loses nothing.
struct DatagramPair: ~Copyable {
    static let key = [UInt8](repeating: 0x5A, count: 32)

    var client: DatagramEnd
    var server: DatagramEnd

    init(clientKey: [UInt8] = key, serverKey: [UInt8] = key, keyLog: KeyLog? = nil) throws {
        let client = try DatagramEnd(.client, key: clientKey, keyLog: keyLog)
        let server = try DatagramEnd(.server, key: serverKey)
        self.client = client
        self.server = server
    }

    static func established() throws -> DatagramPair {
        var pair = try DatagramPair()
        pair.exchange()
        return pair
    }

    /// Delivers everything until neither end sends anything.
    mutating func exchange() {
        client.step()
        server.step()
        for _ in 0..<20 {
            let toServer = client.takeDatagrams()
            for datagram in toServer { server.receive(datagram) }
            let toClient = server.takeDatagrams()
            for datagram in toClient { client.receive(datagram) }
            if toServer.isEmpty && toClient.isEmpty { return }
        }
    }
}
