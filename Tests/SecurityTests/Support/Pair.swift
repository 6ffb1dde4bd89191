import MultipeerCore
import MultipeerFraming
import MultipeerSecurity

/// Two ends of one connection, and the wire between them.
struct Pair: ~Copyable {
    var client: SecureChannel
    var server: SecureChannel
    /// The most that the wire carries at once.
    var piece = Int.max
    private(set) var clientFault: SecurityFault?
    private(set) var serverFault: SecurityFault?

    init(client: consuming SecureChannel, server: consuming SecureChannel) {
        self.client = client
        self.server = server
    }

    /// Returns two TLS ends; by default each accepts the other.
    static func tls(
        client: Identity, server: Identity, clientAccepts: [Fingerprint]? = nil,
        serverAccepts: [Fingerprint]? = nil, protocols: (String, String) = ("mpc/1", "mpc/1"),
        keyLog: KeyLog? = nil
    ) throws -> Pair {
        let clientContext = try TLSContext(
            identity: client, applicationProtocol: protocols.0, keyLog: keyLog)
        let serverContext = try TLSContext(identity: server, applicationProtocol: protocols.1)
        return Pair(
            client: try .tls(
                clientContext, role: .client, accepting: pins(clientAccepts ?? [server.fingerprint])),
            server: try .tls(
                serverContext, role: .server, accepting: pins(serverAccepts ?? [client.fingerprint])))
    }

    /// Returns pins of peers with random uids.
    static func pins(_ fingerprints: [Fingerprint]) -> [CertificatePin] {
        fingerprints.map { CertificatePin($0, of: UID(high: 1, low: 2)) }
    }

    /// Returns two ends with new identities that accept each other, after the handshake.
    static func established() throws -> Pair {
        var pair = try Pair.tls(client: .generated(), server: .generated())
        try pair.shakeHands()
        return pair
    }

    /// Runs the handshake until nothing moves any more; returns whether both ends are done.
    @discardableResult
    mutating func shakeHands() throws -> Bool {
        var isDone = false
        for _ in 0..<100 {
            let clientDone = clientFault == nil ? Self.step(&client, &clientFault) : false
            let upwards = Self.carry(piece, from: &client, to: &server, &serverFault)
            let serverDone = serverFault == nil ? Self.step(&server, &serverFault) : false
            let downwards = Self.carry(piece, from: &server, to: &client, &clientFault)
            isDone = clientDone && serverDone
            if upwards + downwards == 0 { break }
        }
        return isDone
    }

    /// Delivers everything in both directions.
    mutating func exchange() {
        var moved = 1
        while moved > 0 {
            moved = Self.carry(piece, from: &client, to: &server, &serverFault)
            moved += Self.carry(piece, from: &server, to: &client, &clientFault)
        }
    }

    private static func step(_ channel: inout SecureChannel, _ fault: inout SecurityFault?) -> Bool {
        do throws(SecurityFault) { return try channel.handshake() } catch {
            fault = fault ?? error
            return false
        }
    }

    private static func carry(
        _ limit: Int, from source: inout SecureChannel, to destination: inout SecureChannel,
        _ fault: inout SecurityFault?
    ) -> Int {
        var bytes: [UInt8] = []
        source.withOutput { span in
            for index in 0..<min(limit, span.count) { bytes.append(span[index]) }
            return bytes.count
        }
        do throws(SecurityFault) { try destination.receive(bytes.span) } catch { fault = fault ?? error }
        return bytes.count
    }
}

extension SecureChannel {
    /// Returns everything that can be read now, and how the reading ended.
    mutating func readAll() throws(SecurityFault) -> (bytes: [UInt8], end: ReadResult) {
        var buffer = ByteBuffer()
        while true {
            let result = try read(into: &buffer, upTo: 4_096)
            switch result {
            case .bytes, .message: continue
            case .needsInput, .closed: return (buffer.takeAll(), result)
            }
        }
    }

    mutating func write(_ bytes: [UInt8]) throws(SecurityFault) { try write(bytes.span) }

    mutating func takeOutput() -> [UInt8] {
        var bytes: [UInt8] = []
        withOutput { span in
            for index in span.indices { bytes.append(span[index]) }
            return span.count
        }
        return bytes
    }
}
