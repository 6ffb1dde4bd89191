/// Connection data that the session issued.
struct IssuedConnectionData {
    let bytes: [UInt8]
    let token: [UInt8]
    /// Nil for open data.
    let recipient: [UInt8]?
    let isMesh: Bool
    let expires: Instant
    let made: Instant

    var reference: [UInt8] { ConnectionData.reference(bytes) }
}

/// Connection data that the session was given.
struct ReceivedConnectionData {
    let bytes: [UInt8]
    let data: ConnectionData

    var reference: [UInt8] { ConnectionData.reference(bytes) }
}

/// The attempt to connect to one endpoint: its data, its dials, and the resulting connections. Spec 6.1.
final class PeerAttempt {
    let endpoint: Endpoint
    /// The connection data of the peer, newest first.
    var held: [ReceivedConnectionData]
    /// Whether it was begun for the mesh, not for the application.
    let isForMesh: Bool
    /// Whether the application is not notified of it.
    var isSilent: Bool
    let began: Instant
    var deadline: Instant
    /// Whether there was no free place when the application called: HELLO is answered with FULL.
    var isWaiting = false

    /// The candidates of this round that were not dialled yet.
    var queue: [Candidate] = []
    var nextRound: Instant
    var lastDial: Instant?
    var isInRound = false
    /// When the last round of dials began.
    var roundBegan: Instant?
    /// Whether the peer answered that it does not know the session.
    var isUnknown = false
    var failures = 0
    /// The index of the session's own data that it names next.
    var guess = 0
    var namedInRound = 0
    /// Connections that were dialled, or accepted and have sent HELLO.
    var connections: [PeerCandidate] = []

    init(_ held: ReceivedConnectionData, isForMesh: Bool, isSilent: Bool, now: Instant, delay: Duration) {
        endpoint = held.data.endpoint
        self.held = [held]
        self.isForMesh = isForMesh
        self.isSilent = isSilent
        began = now
        deadline = now + .seconds(30)
        nextRound = now + delay
    }

    /// The number of dials that have not reached HELLO.
    var dials: Int {
        connections.count { $0.connection.role == .initiator && [.securing, .greeting].contains($0.state) }
    }

    /// Whether the application still has to decide.
    var isDeciding: Bool { connections.contains { $0.state == .deciding } }

    /// Pauses after a round in which everything failed. Spec 6.1.
    func rest(from now: Instant) {
        let pause = 250 << min(failures, 4)
        failures += 1
        nextRound = now + .milliseconds(min(2_000, Int.random(in: pause / 2...pause * 3 / 2)))
    }
}
