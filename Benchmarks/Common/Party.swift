package import Multipeer

/// A session on loopback that is linked, or about to be, with one other process.
package struct Party: Sendable {
    package let session: Session
    package let other: ConnectionData
    /// The server's attempt, in progress before the client may dial.
    private let waiting: Task<Void, any Error>?

    /// Creates a session, and exchanges connection data with the other process.
    package init(_ side: Assignment.Side) async throws {
        let session = try Session(peer: try Party.peer(side), configuration: Party.configuration)
        let mine = try await session.connectionData()
        switch side {
        case .client:
            Introduction.print(mine)
            other = try Introduction.read()
            waiting = nil
        case .server:
            let other = try Introduction.read()
            waiting = Task { try await session.connect(with: other) }
            // Long enough for the session to know the peer that it expects.
            try await Task.sleep(for: .milliseconds(2))
            Introduction.print(mine)
            self.other = other
        }
        self.session = session
    }

    /// Returns when both are connected.
    package func link() async throws {
        if let waiting { try await waiting.value } else { try await session.connect(with: other) }
    }

    package static var configuration: Session.Configuration {
        var configuration = Session.Configuration()
        configuration.listenAddresses = [.loopback]
        return configuration
    }

    /// Returns the peer of a side: the lower uid dials at once, so the client gets one that begins with 0 and the
    /// server one with 255.
    package static func peer(_ side: Assignment.Side) throws -> PeerID {
        var bytes = (0..<UID.byteCount).map { _ in UInt8.random(in: 0...255) }
        bytes[0] = side == .client ? 0 : 255
        // A random one, and no hash of a key.
        bytes[6] = bytes[6] & 0x0F | 0x40
        guard let uid = UID(bytes) else { throw BenchFault.noIntroduction }
        return try PeerID(uid: uid, displayName: side.rawValue)
    }
}
