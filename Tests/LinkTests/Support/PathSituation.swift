import MultipeerCore
import MultipeerFraming
import MultipeerLink

/// The phases that a path can be in, and how it gets there.
enum PathSituation: String, CaseIterable, Sendable {
    case fresh, alone, shakingHands, probing, up, resting

    static let start = Moment(nanoseconds: 0)
    static let local: UInt64 = 0xA1
    static let remote = DatagramOffer(association: 0xB1, port: 4_000)

    /// Returns a path in this phase; nil for a phase that a plain link does not have.
    func path(
        isControlling: Bool = true, isProtected: Bool = true, timing: DatagramPath.Timing = .init()
    ) -> DatagramPath? {
        var path = DatagramPath(
            isControlling: isControlling, isProtected: isProtected, port: 3_000, timing: timing)
        if self == .fresh { return path.drained }
        _ = path.announce(Self.local, at: Self.start)
        if self == .alone { return path.drained }
        path.receive(Self.remote, at: Self.start)
        if self == .shakingHands { return isProtected ? path.drained : nil }
        if self == .resting {
            path.failed(at: Self.start)
            return path.drained
        }
        path.established(at: Self.start)
        if self == .probing { return path.drained }
        _ = path.take(.pong, sequence: 0, token: 1, at: Self.start)
        return path.drained
    }
}

/// The events that can happen to a path.
enum PathInput: String, CaseIterable, Sendable {
    case announce, offer, offerOfNothing, offerOfZero, moved, established, failed
    case ping, pong, strangePong, message, junk, early, due, late

    func happen(to path: inout DatagramPath) {
        let now = PathSituation.start + .milliseconds(50)
        switch self {
        case .announce: _ = path.announce(0xA2, at: now)
        case .offer: path.receive(DatagramOffer(association: 0xB2, port: 4_001), at: now)
        case .offerOfNothing: path.receive(DatagramOffer(association: 0xB2, port: 0), at: now)
        case .offerOfZero: path.receive(DatagramOffer(association: 0, port: 4_001), at: now)
        case .moved: path.handshakeMoved(flights: 1, at: now)
        case .established: path.established(at: now)
        case .failed: path.failed(at: now)
        case .ping: _ = path.take(.ping, sequence: 7, token: 99, at: now)
        case .pong: _ = path.take(.pong, sequence: 7, token: 1, at: now)
        case .strangePong: _ = path.take(.pong, sequence: 7, token: 99, at: now)
        case .message: _ = path.take([1, 0, 0, 0, 7, 42], at: now)
        case .junk: _ = path.take([9, 9], at: now)
        case .early: path.advance(to: now)
        case .due: if let deadline = path.deadline { path.advance(to: deadline) }
        case .late: path.advance(to: now + .seconds(3_600))
        }
    }
}

extension DatagramPath {
    /// The path without the actions so far.
    var drained: DatagramPath {
        var path = self
        _ = path.takeActions()
        return path
    }

    mutating func take(_ content: [UInt8], at now: Moment) -> Verdict { receive(content.span, at: now) }

    mutating func take(
        _ kind: ContentHeader.Kind, sequence: UInt32, token: UInt64, at now: Moment
    ) -> Verdict {
        var content = ByteBuffer()
        ContentHeader(kind, sequence: sequence).encode(into: &content)
        content.append(token)
        return take(content.takeAll(), at: now)
    }

    mutating func content(of message: [UInt8]) -> [UInt8] {
        var content = ByteBuffer()
        encode(message.span, into: &content, at: PathSituation.start)
        return content.takeAll()
    }

    /// Returns the phase and the actions in a few words: `up: down begin`.
    mutating func summary() -> String {
        let name =
            switch phase {
            case .idle: "idle"
            case .shakingHands: "shakingHands"
            case .probing: "probing"
            case .up: "up"
            case .resting: "resting"
            }
        return ([name + ":"] + takeActions().map(\.word)).joined(separator: " ")
    }
}

extension DatagramPath.Action {
    /// What a ping carries; nil for everything else.
    var pingToken: UInt64? {
        guard case .send(let content) = self, content[0] == 2 else { return nil }
        return content[5...].reduce(0) { $0 << 8 | UInt64($1) }
    }

    var word: String {
        switch self {
        case .drawAssociation: "draw"
        case .begin: "begin"
        case .drop: "drop"
        case .retransmit: "retransmit"
        case .send(let content): content[0] == 2 ? "ping" : "pong"
        case .up: "up"
        case .down: "down"
        case .withdraw: "withdraw"
        }
    }
}
