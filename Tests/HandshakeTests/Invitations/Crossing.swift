import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import TestSupport

/// Two peers that invite each other at about the same time, in virtual time over a network with latency.
final class Crossing {
    /// What an application does with the question it is asked.
    enum Manner: CaseIterable { case accepts, declines, isSlow, neverAnswers }

    final class Side {
        let peer: PeerID
        let data: ConnectionData
        let manner: Manner
        /// After how long it gives its own invitation up.
        let cancels: Duration?
        var inviter: Inviter
        var invitee: Invitee
        /// How the own invitation ended.
        var outcomes: [Result<ConnectionData, InvitationFault>] = []
        var asked: [QuestionID] = []
        var endings: [QuestionID: [Invitee.Ending]] = [:]
        /// The connection of each end at this side: own invitation, and what came.
        var dialled: [ConnectionID: Int] = [:]
        var taken: [ConnectionID: Int] = [:]
        /// Whether the data was sent although neither application had accepted.
        var toldTooEarly = false

        init(
            _ peer: PeerID, _ data: ConnectionData, _ manner: Manner, cancels: Duration?, _ inviter: Inviter
        ) {
            self.peer = peer
            self.data = data
            self.manner = manner
            self.cancels = cancels
            self.inviter = inviter
            invitee = Invitee(peer, seed: 1)
        }
    }

    private struct Wire {
        let from: Int
        let dialler: ConnectionID
        var acceptor: ConnectionID?
        var isOver = [false, false]
        var nextDelivery = [Moment.start, .start]
        let latency: Duration
    }

    private(set) var sides: [Side] = []
    private(set) var now = Moment.start
    private var wires: [Wire] = []
    private var agenda: [(at: Moment, order: Int, act: () -> Void)] = []
    private var order = 0
    private var random: Seeded

    init(_ seed: UInt64) throws {
        random = Seeded(seed)
        let peers = [try PeerID.numbered(1), try PeerID.numbered(2)]
        for (index, peer) in peers.enumerated() {
            let other = peers[1 - index]
            let manner = Manner.allCases.randomElement(using: &random) ?? .accepts
            let cancels = Int.random(in: 0..<4, using: &random) == 0 ? milliseconds(0...1_500) : nil
            let address = Candidate(address: [192, 0, 2, UInt8(2 - index)], port: 49_152)
            let inviter = try Inviter(
                other, at: [address].compactMap { $0 }, as: peer, context: nil, within: .seconds(2),
                id: random.bytes(16), seed: random.next(), at: .start)
            sides.append(Side(peer, try peer.made(for: other), manner, cancels: cancels, inviter))
        }
    }

    /// Runs until nothing is left to happen; returns whether it came to that.
    func run() -> Bool {
        for (index, side) in sides.enumerated() {
            schedule(milliseconds(0...50)) { [self] in carryOut(index) }
            guard let cancels = side.cancels else { continue }
            schedule(cancels) { [self] in
                side.inviter.cancel(at: now)
                carryOut(index)
            }
        }
        for _ in 0..<2_000 {
            let deadlines = sides.flatMap { [$0.inviter.deadline, $0.invitee.deadline] }.compactMap { $0 }
            let next = agenda.indices.min {
                (agenda[$0].at, agenda[$0].order) < (agenda[$1].at, agenda[$1].order)
            }
            guard let moment = (deadlines + [next.map { agenda[$0].at }].compactMap { $0 }).min() else {
                return true
            }
            now = max(now, moment)
            if let next, agenda[next].at <= now { agenda.remove(at: next).act() }
            for (index, side) in sides.enumerated() {
                side.inviter.advance(to: now)
                side.invitee.advance(to: now)
                carryOut(index)
            }
        }
        return false
    }

    private func milliseconds(_ range: ClosedRange<Int>) -> Duration {
        .milliseconds(Int.random(in: range, using: &random))
    }

    private func schedule(_ delay: Duration, _ act: @escaping () -> Void) {
        order += 1
        agenda.append((now + delay, order, act))
    }
}

// MARK: actions of the machines

extension Crossing {
    private func carryOut(_ index: Int) {
        let side = sides[index]
        for action in side.inviter.takeActions() {
            switch action {
            case .dial(let id, _): dial(id, from: index)
            case .send(let id, let frame): post(frame, on: side.dialled[id], from: 0)
            case .close(let id, let code): close(side.dialled[id], code, from: 0)
            case .tell(.makeData):
                schedule(milliseconds(0...20)) { [self] in
                    side.inviter.supply(side.data, at: now)
                    carryOut(index)
                }
            case .tell(.end(let result)): side.outcomes.append(result)
            }
        }
        for action in side.invitee.takeActions() {
            switch action {
            case .dial: preconditionFailure("the end that is asked dials nobody")
            case .send(let id, let frame): post(frame, on: side.taken[id], from: 1)
            case .close(let id, let code): close(side.taken[id], code, from: 1)
            case .tell(.ask(let asked)): ask(index, asked)
            case .tell(.contested): break
            case .tell(.end(let question, let ending)): side.endings[question, default: []].append(ending)
            case .tell(.code): break
            }
        }
    }

    private func ask(_ index: Int, _ asked: Invitee.InvitationRequest) {
        let side = sides[index]
        side.asked.append(asked.question)
        let (delay, isYes): (Duration, Bool)
        switch side.manner {
        case .accepts: (delay, isYes) = (milliseconds(0...800), true)
        case .declines: (delay, isYes) = (milliseconds(0...800), false)
        case .isSlow: (delay, isYes) = (milliseconds(1_900...2_100), Bool.random(using: &random))
        case .neverAnswers: return
        }
        schedule(delay) { [self] in
            // Too late: the result of the question was already reported.
            if isYes {
                try? side.invitee.accept(asked.question, with: side.data, at: now)
            } else {
                try? side.invitee.refuse(asked.question, .declined, at: now)
            }
            carryOut(index)
        }
    }

    private func dial(_ id: ConnectionID, from index: Int) {
        let wire = wires.count
        wires.append(Wire(from: index, dialler: id, latency: milliseconds(0...60)))
        sides[index].dialled[id] = wire
        schedule(wires[wire].latency) { [self] in
            guard !wires[wire].isOver[0] else { return }
            let target = sides[1 - index]
            guard let accepted = target.invitee.accepted(from: [192, 0, 2, UInt8(index)], at: now) else {
                return
            }
            wires[wire].acceptor = accepted
            target.taken[accepted] = wire
            target.invitee.secured(accepted, at: now)
            deliver(wire, to: 0) { [self] in
                sides[index].inviter.connected(id, at: now)
                sides[index].inviter.secured(id, at: now)
                carryOut(index)
            }
        }
    }

    private func post(_ frame: [UInt8], on wire: Int?, from end: Int) {
        guard let wire, !wires[wire].isOver[end] else { return }
        let payload = Array(frame.dropFirst(FrameHeader.byteCount))
        let header = FrameHeader(frame.span.extracting(0..<FrameHeader.byteCount))
        if header.kind == .complete { sides[wires[wire].from].toldTooEarly = !hasAgreed(wire) }
        deliver(wire, to: 1 - end) { [self] in
            let index = end == 0 ? 1 - wires[wire].from : wires[wire].from
            if end == 0 {
                if let id = wires[wire].acceptor {
                    sides[index].invitee.receive(id, header, payload.span, at: now)
                }
            } else {
                sides[index].inviter.receive(wires[wire].dialler, header, payload.span, at: now)
            }
            carryOut(index)
        }
    }

    private func hasAgreed(_ wire: Int) -> Bool {
        let other = sides[1 - wires[wire].from]
        return other.manner == .accepts || other.manner == .isSlow
    }

    private func close(_ wire: Int?, _ code: CloseCode, from end: Int) {
        guard let wire, !wires[wire].isOver[end] else { return }
        if code != .ok {
            var buffer = ByteBuffer()
            Frame.close(code, reason: "").encode(into: &buffer)
            post(buffer.takeAll(), on: wire, from: end)
        }
        wires[wire].isOver[end] = true
        deliver(wire, to: 1 - end) { [self] in lose(wire, 1 - end) }
    }

    private func lose(_ wire: Int, _ end: Int) {
        guard !wires[wire].isOver[end] else { return }
        wires[wire].isOver[end] = true
        let index = end == 0 ? wires[wire].from : 1 - wires[wire].from
        if end == 0 {
            sides[index].inviter.lost(wires[wire].dialler, .lost, at: now)
        } else if let id = wires[wire].acceptor {
            sides[index].invitee.lost(id, .lost, at: now)
        }
        carryOut(index)
    }

    /// Delivers in order on each connection and direction, to an end that has not closed it.
    private func deliver(_ wire: Int, to end: Int, _ act: @escaping () -> Void) {
        let moment = max(wires[wire].nextDelivery[end], now + wires[wire].latency)
        wires[wire].nextDelivery[end] = moment
        order += 1
        agenda.append(
            (
                moment, order,
                { [self] in if !wires[wire].isOver[end] { act() } }
            ))
    }
}
