package import MultipeerSecurity

/// What happens in one run, as data: it can be printed, stored, made smaller and run again.
package struct Scenario: Equatable, Sendable {
    package enum Mode: String, CaseIterable, Sendable {
        /// Faults never stop: only what holds always is checked.
        case safety
        /// Faults stop, and 15 seconds later everything has come to rest.
        case liveness
    }

    /// Of everything that the scenario leaves open: delays, keys, ids, jitter.
    package var seed: UInt64
    package var mode: Mode
    package var cap: Int
    package var weather: Weather
    package var peers: [Peer]
    package var doors: [Door] = []
    package var steps: [Step] = []
    /// When the faults are over, in milliseconds.
    package var end: Int

    package init(
        seed: UInt64, mode: Mode, cap: Int, weather: Weather, peers: [Peer], doors: [Door] = [],
        steps: [Step] = [],
        end: Int
    ) {
        self.seed = seed
        self.mode = mode
        self.cap = cap
        self.weather = weather
        self.peers = peers
        self.doors = doors
        self.steps = steps
        self.end = end
    }

    package struct Peer: Equatable, Sendable {
        package enum Role: Equatable, Sendable {
            case honest, liar
            /// It has the uid of the peer with this number.
            case twin(Int)
        }

        package var preference = EncryptionPreference.optional
        package var hasIdentity = false
        package var role = Role.honest
        /// Peers are ranked by their uids as by this.
        package var rank = 0
        package var strayAddresses = 0
        /// What messages to it may cost before its application has taken any.
        package var credit: UInt32 = 65_536

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

    /// `to` is not reached by dials from `from`.
    package struct Door: Equatable, Sendable {
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

    package enum Action: Equatable, Sendable {
        case join(Int, Int, isAddressed: Bool)
        /// A link that makes no introductions.
        case direct(Int, Int)
        case cancel(Int, Int)
        case goodbye(Int)
        case crash(Int, isSilent: Bool)
        case start(Int, newPort: Bool)
        case pause(Int, milliseconds: Int)
        case jump(Int, milliseconds: Int)
        case slow(Int, milliseconds: Int)
        case cut(Int, Int)
        case split(near: UInt32, isOneSided: Bool, milliseconds: Int)
        case burst(Int, messages: Int)
        case lie(Int, String, milliseconds: Int)
    }
}

extension Scenario.Action {
    /// Whether connections that stand are any worse for it.
    var disturbs: Bool {
        switch self {
        case .join, .direct, .cancel, .burst, .lie: false
        case .goodbye, .crash, .start, .pause, .jump, .slow, .cut, .split: true
        }
    }

    /// The peers that it is about.
    var peers: [Int] {
        switch self {
        case .join(let one, let other, _), .direct(let one, let other), .cancel(let one, let other),
            .cut(let one, let other):
            [one, other]
        case .goodbye(let one), .crash(let one, _), .start(let one, _), .pause(let one, _), .jump(let one, _),
            .slow(let one, _), .burst(let one, _), .lie(let one, _, _):
            [one]
        case .split: []
        }
    }

    /// The same with other numbers; nil when a peer is no longer there.
    func renumbered(_ new: (Int) -> Int?) -> Scenario.Action? {
        let mapped = peers.compactMap(new)
        guard mapped.count == peers.count else { return nil }
        switch self {
        case .join(_, _, let isAddressed): return .join(mapped[0], mapped[1], isAddressed: isAddressed)
        case .direct: return .direct(mapped[0], mapped[1])
        case .cancel: return .cancel(mapped[0], mapped[1])
        case .cut: return .cut(mapped[0], mapped[1])
        case .goodbye: return .goodbye(mapped[0])
        case .crash(_, let isSilent): return .crash(mapped[0], isSilent: isSilent)
        case .start(_, let newPort): return .start(mapped[0], newPort: newPort)
        case .pause(_, let time): return .pause(mapped[0], milliseconds: time)
        case .jump(_, let time): return .jump(mapped[0], milliseconds: time)
        case .slow(_, let time): return .slow(mapped[0], milliseconds: time)
        case .burst(_, let messages): return .burst(mapped[0], messages: messages)
        case .lie(_, let lie, let time): return .lie(mapped[0], lie, milliseconds: time)
        case .split(let near, let isOneSided, let time):
            var mask: UInt32 = 0
            for old in 0..<32 where near >> UInt32(old) & 1 == 1 {
                if let place = new(old) { mask |= 1 << UInt32(place) }
            }
            return .split(near: mask, isOneSided: isOneSided, milliseconds: time)
        }
    }
}
