import MultipeerLink
package import MultipeerSecurity

/// What happens in one run, as data: it can be printed, stored, made smaller and run again.
package struct Scenario: Equatable, Sendable {
    package enum Mode: String, CaseIterable, Sendable {
        /// Faults never stop: only what always holds is checked.
        case safety
        /// Faults stop, and 15 seconds later, or after the pauses of members that never met, everything has come to rest.
        case liveness
    }

    /// The seed of everything that the scenario leaves open: delays, keys, ids, jitter.
    package var seed: UInt64
    package var mode: Mode
    package var cap: Int
    package var conditions: NetworkConditions
    package var peers: [Peer]
    package var firewallRules: [FirewallRule] = []
    package var steps: [Step] = []
    /// When the faults are over, in milliseconds.
    package var end: Int

    package init(
        seed: UInt64, mode: Mode, cap: Int, conditions: NetworkConditions, peers: [Peer],
        firewallRules: [FirewallRule] = [],
        steps: [Step] = [],
        end: Int
    ) {
        self.seed = seed
        self.mode = mode
        self.cap = cap
        self.conditions = conditions
        self.peers = peers
        self.firewallRules = firewallRules
        self.steps = steps
        self.end = end
    }

    package struct Peer: Equatable, Sendable {
        package enum Role: Equatable, Sendable {
            case honest, byzantine
            /// It has the uid of the peer with this number.
            case twin(Int)
        }

        /// Whether unreliable messages may go over UDP; a deaf peer never receives anything that way.
        package enum Datagrams: String, Sendable { case none, open, deaf }

        package var preference = EncryptionPreference.optional
        package var hasIdentity = false
        /// Whether its uid is the hash of the key of its identity.
        package var isKeyed = false
        package var role = Role.honest
        /// The peer's rank: the order of uids is the order of ranks.
        package var rank = 0
        package var strayAddresses = 0
        /// The cost that messages to it may have before its application has taken any.
        package var credit: UInt32 = 65_536
        /// Bytes on a channel to it before its application has taken any.
        package var window: UInt32 = 262_144
        /// Bytes of channels that it holds unread.
        package var memory = ReceiveMemory.limit
        /// Bytes a second that go through its connections, each way; nil when there is no limit.
        package var rate: Int?
        package var datagrams = Datagrams.none

        package init(
            preference: EncryptionPreference = .optional, hasIdentity: Bool = false, role: Role = .honest,
            rank: Int = 0,
            strayAddresses: Int = 0, credit: UInt32 = 65_536
        ) {
            self.preference = preference
            self.hasIdentity = hasIdentity
            self.role = role
            self.rank = rank
            self.strayAddresses = strayAddresses
            self.credit = credit
        }
    }

    /// Dials from `from` do not reach `to`.
    package struct FirewallRule: Equatable, Sendable {
        package var from: Int
        package var to: Int
        package var isSilent: Bool

        package init(from: Int, to: Int, isSilent: Bool) {
            self.from = from
            self.to = to
            self.isSilent = isSilent
        }
    }

    package struct Step: Equatable, Sendable {
        /// In milliseconds.
        package var moment: Int
        package var action: Action

        package init(moment: Int, action: Action) {
            self.moment = moment
            self.action = action
        }
    }

    /// What an application answers to an invitation, after that many milliseconds.
    package enum Answer: Equatable, Sendable {
        case accepts(Int), declines(Int), never
    }

    /// What is sent on a channel, and how it ends.
    package struct Transfer: Equatable, Sendable {
        package enum End: Equatable, Sendable {
            case finished
            /// The opener gives up, or the reader takes no more, after that many bytes.
            case reset(after: Int)
            case stopped(after: Int)
        }

        package var isFile: Bool
        package var bytes: Int
        package var end: End
    }

    package enum Action: Equatable, Sendable {
        case join(Int, Int, isAddressed: Bool)
        /// A link that makes no introductions.
        case direct(Int, Int)
        /// An invitation, its timeout in milliseconds, and the invitee's answer.
        case invite(Int, Int, Int, Answer)
        case cancel(Int, Int)
        case goodbye(Int)
        case crash(Int, isSilent: Bool)
        case start(Int, newPort: Bool)
        case pause(Int, milliseconds: Int)
        case jump(Int, milliseconds: Int)
        case slow(Int, milliseconds: Int)
        case cut(Int, Int)
        /// Breaks the next connection of the two at the moment when one holds it as its link and the other does not
        /// yet.
        case snap(Int, Int)
        case split(near: UInt32, isOneSided: Bool, milliseconds: Int)
        case burst(Int, messages: Int)
        /// A stream or a file over one of its links.
        case transfer(Int, Transfer)
        /// The peer asks for the verification code of one of its links.
        case code(Int, milliseconds: Int)
        /// The peer asks on each link for a notification once everything that it sent has been received.
        case flush(Int)
        case lie(Int, String, milliseconds: Int)
        /// No UDP packet reaches the peer for that long.
        case deafen(Int, milliseconds: Int)
        /// No UDP packet reaches the peer, or gets out of it, for that long.
        case silence(Int, milliseconds: Int)
        /// That many of a hundred UDP packets to and from the peer are lost for that long.
        case thin(Int, percent: Int, milliseconds: Int)
    }
}

extension Scenario.Action {
    /// Whether it affects established connections.
    var disturbs: Bool {
        switch self {
        case .join, .direct, .invite, .cancel, .burst, .lie, .transfer, .code, .flush, .deafen, .silence,
            .thin:
            false
        case .goodbye, .crash, .start, .pause, .jump, .slow, .cut, .snap, .split: true
        }
    }

    /// The peers that it affects.
    var peers: [Int] {
        switch self {
        case .join(let one, let other, _), .direct(let one, let other), .cancel(let one, let other),
            .invite(let one, let other, _, _), .cut(let one, let other), .snap(let one, let other):
            [one, other]
        case .goodbye(let one), .crash(let one, _), .start(let one, _), .pause(let one, _), .jump(let one, _),
            .slow(let one, _), .burst(let one, _), .lie(let one, _, _), .transfer(let one, _),
            .code(let one, _), .flush(let one), .deafen(let one, _), .silence(let one, _),
            .thin(let one, _, _):
            [one]
        case .split: []
        }
    }

    /// Returns the same with other numbers; nil when a peer no longer exists.
    func renumbered(_ new: (Int) -> Int?) -> Scenario.Action? {
        let mapped = peers.compactMap(new)
        guard mapped.count == peers.count else { return nil }
        switch self {
        case .join(_, _, let isAddressed): return .join(mapped[0], mapped[1], isAddressed: isAddressed)
        case .direct: return .direct(mapped[0], mapped[1])
        case .invite(_, _, let time, let answer): return .invite(mapped[0], mapped[1], time, answer)
        case .cancel: return .cancel(mapped[0], mapped[1])
        case .cut: return .cut(mapped[0], mapped[1])
        case .snap: return .snap(mapped[0], mapped[1])
        case .goodbye: return .goodbye(mapped[0])
        case .crash(_, let isSilent): return .crash(mapped[0], isSilent: isSilent)
        case .start(_, let newPort): return .start(mapped[0], newPort: newPort)
        case .pause(_, let time): return .pause(mapped[0], milliseconds: time)
        case .jump(_, let time): return .jump(mapped[0], milliseconds: time)
        case .slow(_, let time): return .slow(mapped[0], milliseconds: time)
        case .burst(_, let messages): return .burst(mapped[0], messages: messages)
        case .lie(_, let lie, let time): return .lie(mapped[0], lie, milliseconds: time)
        case .transfer(_, let transfer): return .transfer(mapped[0], transfer)
        case .code(_, let time): return .code(mapped[0], milliseconds: time)
        case .flush: return .flush(mapped[0])
        case .deafen(_, let time): return .deafen(mapped[0], milliseconds: time)
        case .silence(_, let time): return .silence(mapped[0], milliseconds: time)
        case .thin(_, let percent, let time):
            return .thin(mapped[0], percent: percent, milliseconds: time)
        case .split(let near, let isOneSided, let time):
            var mask: UInt32 = 0
            for old in 0..<32 where near >> UInt32(old) & 1 == 1 {
                if let place = new(old) { mask |= 1 << UInt32(place) }
            }
            return .split(near: mask, isOneSided: isOneSided, milliseconds: time)
        }
    }
}
