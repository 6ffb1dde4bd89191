import MultipeerCore
import MultipeerFraming
import MultipeerIntroduction
import MultipeerSecurity
import TestSupport

/// One peer of a `Neighbourhood`: its machine, its host, and what its application was told.
struct Node {
    enum Trust {
        case yes, no, never
        case yesAfter(Duration)
    }

    enum Event: Equatable {
        case linked(UID, ConnectionID)
        case failed(UID, IntroductionFailure)
        /// The link is over, and is it sought again?
        case ended(UID, ConnectionID)
        case superseded(UID, ConnectionID)
        case unanswered(UID, ConnectionID)
        case sought(UID)
    }

    struct Dial: Equatable {
        let moment: Moment
        let candidate: Candidate
        let key: Fingerprint?
    }

    var machine: Introductions
    let local: LocalPeer
    let address: [UInt8]
    var port: UInt16 = 50_000
    var isListening = true
    var answersProbes = true
    var trust = Trust.yes
    /// Whether the application connects again, a second after a failure or the end of a link.
    var insists = false

    var links: [UID: ConnectionID] = [:]
    /// Links on which something arrived.
    var used: Set<ConnectionID> = []
    /// Attempts that have had no outcome yet.
    var open: Set<UID> = []
    var superseded: Set<UID> = []
    var held: [UID: ConnectionData] = [:]

    var events: [Event] = []
    var dials: [Dial] = []
    var questions: [ConnectionID] = []
    /// The codes with which this end closed connections that were not links.
    var closes: [CloseCode] = []
    /// The codes of CLOSE frames that arrived.
    var heard: [CloseCode] = []

    init(
        _ number: Int, preference: EncryptionPreference, hasIdentity: Bool, seats: Int, uid: UID, seed: UInt64
    ) throws {
        var dice = Seeded(seed)
        local = LocalPeer(
            peer: try PeerID(uid: uid, displayName: "peer \(number)"), instance: dice.next(),
            preference: preference,
            hasIdentity: hasIdentity,
            fingerprint: preference == .none ? nil : Fingerprint(dice.bytes(32)), agent: "tests")
        address = [10, 0, 0, UInt8(truncatingIfNeeded: number + 1)]
        machine = Introductions(local, seats: seats, seed: dice.next())
    }

    var uid: UID { local.endpoint.uid }
    func failures(of uid: UID) -> [IntroductionFailure] {
        events.compactMap { if case .failed(uid, let failure) = $0 { failure } else { nil } }
    }
}
