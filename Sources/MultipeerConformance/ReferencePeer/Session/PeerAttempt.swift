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

/// One endpoint that the session seeks: its data, its dials, and the connections that came of it. Spec 6.1.
final class PeerAttempt {
    let endpoint: Endpoint
    /// The newest first.
    var held: [ReceivedConnectionData]
    /// Whether it was begun for the mesh, not for the application.
    let isForMesh: Bool
    /// Whether the application is told of it.
    let isSilent: Bool
    let began: Instant
    var deadline: Instant
    /// There was no seat when the application asked: HELLO is answered with FULL.
    var isWaiting = false

    /// Candidates of this round that were not dialled yet.
    var queue: [Candidate] = []
    var nextRound: Instant
    var lastDial: Instant?
    var isInRound = false
    var failures = 0
    /// Which of its own data the session names next.
    var guess = 0
    var namedInRound = 0
    /// Connections that were dialled, or came and said HELLO.
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

    /// Dials that have not come as far as HELLO.
    var dials: Int {
        connections.count { $0.connection.role == .initiator && [.securing, .greeting].contains($0.state) }
    }

    /// Whether an application is still to decide.
    var isDeciding: Bool { connections.contains { $0.state == .deciding } }

    /// The pause after a round in which everything failed. Spec 6.1.
    func rest(from now: Instant) {
        let pause = min(4_000, 250 << min(failures, 4))
        failures += 1
        nextRound = now + .milliseconds(Int.random(in: pause / 2...pause * 3 / 2))
    }
}
