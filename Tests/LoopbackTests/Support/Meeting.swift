import Multipeer
import MultipeerCore
import MultipeerHandshake
import MultipeerMesh
import MultipeerSecurity
import MultipeerTransport
import Testing

/// Two sessions of this process on loopback, with real sockets and real TLS.
struct Meeting: Sendable {
    let ann: Session
    let bob: Session

    init(
        ann: Session.Configuration = .loopback(), bob: Session.Configuration = .loopback()
    ) throws {
        self.ann = try Session(peer: PeerID(displayName: "ann"), configuration: ann)
        self.bob = try Session(peer: PeerID(displayName: "bob"), configuration: bob)
    }

    /// Returns a meeting in which ann is the end that dials at once.
    static func annFirst(
        ann: Session.Configuration = .loopback(), bob: Session.Configuration = .loopback()
    ) throws -> Meeting {
        let uids = [UID](arrayLiteral: try PeerID(displayName: "x").uid, try PeerID(displayName: "x").uid)
            .sorted()
        return try Meeting(
            PeerID(uid: uids[0], displayName: "ann"), ann, PeerID(uid: uids[1], displayName: "bob"), bob)
    }

    init(
        _ ann: PeerID, _ annsConfiguration: Session.Configuration, _ bob: PeerID,
        _ bobsConfiguration: Session.Configuration
    ) throws {
        self.ann = try Session(peer: ann, configuration: annsConfiguration)
        self.bob = try Session(peer: bob, configuration: bobsConfiguration)
    }

    /// Exchanges connection data and connects both at once; throws the first refusal.
    func link() async throws {
        let (annsData, bobsData) = (try await ann.connectionData(), try await bob.connectionData())
        async let first: Void = ann.connect(with: ConnectionData(bobsData.bytes))
        async let second: Void = bob.connect(with: ConnectionData(annsData.bytes))
        _ = try await (first, second)
    }

    /// Connects both at once with data that may have been changed in transit; returns both results.
    func attempt(
        changing annsData: (ConnectionData) throws -> [UInt8] = { $0.bytes },
        and bobsData: (ConnectionData) throws -> [UInt8] = { $0.bytes }
    ) async throws -> (ann: Result<Void, MultipeerError>, bob: Result<Void, MultipeerError>) {
        let forBob = try ConnectionData(annsData(try await ann.connectionData()))
        let forAnn = try ConnectionData(bobsData(try await bob.connectionData()))
        async let first = ann.trying(forAnn)
        async let second = bob.trying(forBob)
        return await (first, second)
    }

    func end() async {
        async let first: Void = ann.disconnect()
        async let second: Void = bob.disconnect()
        _ = await (first, second)
    }
}

extension Session {
    nonisolated func trying(_ data: ConnectionData) async -> Result<Void, MultipeerError> {
        do throws(MultipeerError) {
            try await connect(with: data)
            return .success(())
        } catch {
            return .failure(error)
        }
    }
}

extension Result where Success == Void, Failure == MultipeerError {
    var error: MultipeerError? { if case .failure(let error) = self { error } else { nil } }
    var isLinked: Bool { if case .success = self { true } else { false } }
}

extension Session.Configuration {
    /// Listens on 127.0.0.1 alone, so that nothing leaves the machine.
    static func loopback(
        _ preference: EncryptionPreference = .required, identity: Identity? = nil,
        timeLimit: Duration = .seconds(20)
    ) -> Session.Configuration {
        var configuration = Session.Configuration(encryption: preference, identity: identity)
        configuration.listenAddresses = [.loopback]
        configuration.connectTimeout = timeLimit
        return configuration
    }

    func tapped(by tap: Tap) -> Session.Configuration {
        var configuration = self
        configuration.overrides.advertising = tap.advertise
        return configuration
    }

    func with(_ change: (inout Session.Configuration) -> Void) -> Session.Configuration {
        var configuration = self
        change(&configuration)
        return configuration
    }
}

extension Session.Events {
    /// Returns the first message that is received.
    func firstMessage() async -> [UInt8]? {
        for await event in self {
            if case .message(let message) = event { return message.bytes }
        }
        return nil
    }

    /// Returns the reason of the first end of a link.
    func firstEnd() async -> DisconnectReason? {
        for await event in self {
            if case .peer(_, .notConnected(let reason)) = event { return reason }
        }
        return nil
    }
}
