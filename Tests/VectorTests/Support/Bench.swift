import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import Testing

/// One session with a connection to a peer that the test plays, brought to a state of chapter 6.6.
final class Bench {
    /// The results of one event on the connection.
    struct Consequences {
        var sent: [FrameKind] = []
        var told: CloseCode?
        var isAsked = false
        var isLinked = false
    }

    private var machine: LinkEstablishment
    private let dial: Handshake.Role
    private let peer: UID
    private let held: ConnectionData
    private let issued: ConnectionData
    private var now = Moment.start
    private let id: ConnectionID
    /// Another connection of the same peer: the one that is selected while `id` is a candidate.
    private let rival: ConnectionID
    private let isControlling: Bool
    private let isRivalFirst: Bool
    private var hellos: [ConnectionID: [UInt8]] = [:]
    private var isSelected = false
    private var isLinked = false
    private var isOver = false

    init(_ dial: Handshake.Role, isControlling: Bool, state: String, event: String) throws {
        self.dial = dial
        self.isControlling = isControlling
        isRivalFirst = state == "candidate" && isControlling
        let own = UID(high: 5, low: 5)
        peer = UID(high: isControlling ? 9 : 1, low: 1)
        var other = try LinkEstablishment(stranger(peer, instance: 2), seed: 3)
        machine = try LinkEstablishment(stranger(own), seed: 4)
        held = try other.issue(for: own, at: now)
        issued = try machine.issue(for: peer, at: now)
        _ = try machine.connect(with: held, zones: [], at: now)
        // Time passes only until the first dial: the controlled end waits with it.
        machine.advance(to: .after(500))
        now = .after(500)
        let dialled = machine.takeActions().compactMap { action -> ConnectionID? in
            if case .dial(let id, _, accepting: _) = action { id } else { nil }
        }
        let first = try #require(dialled.first)
        id = dial == .initiator ? first : machine.accepted(at: now)
        rival = machine.accepted(at: now)
        try bring(to: state, event: event)
    }

    /// The name of the state that the connection is in.
    var state: String {
        if isOver { return "ended" }
        if isLinked { return "linked" }
        if isSelected { return "selecting" }
        switch machine.phase(of: id) {
        case .securing: return "securing"
        case .greeting: return "greeting"
        case .deciding(confirmed: false): return "deciding"
        case .deciding(confirmed: true): return "decidingConfirmed"
        case .confirming: return "confirming"
        case .candidate: return "candidate"
        case .ended, nil: return "ended"
        }
    }

    private func bring(to state: String, event: String) throws {
        let order = [
            "securing", "greeting", "deciding", "decidingConfirmed", "confirming", "candidate", "selecting",
            "linked",
        ]
        let target = try #require(
            state == "ended" ? order.firstIndex(of: "greeting") : order.firstIndex(of: state))
        let needsRival = isRivalFirst || event == "nominate"
        if needsRival {
            secure(rival)
            receive(hello(rival), on: rival)
        }
        if target >= 1 { secure(id) }
        if target >= 2 { receive(hello(id), on: id) }
        if target == 3 { receive(confirm(id, isRight: true), on: id) }
        if target >= 4 { machine.decide(peer, isTrusted: true, at: now) }
        note()
        if isRivalFirst { receive(confirm(rival, isRight: true), on: rival) }
        if target >= 5 { receive(confirm(id, isRight: true), on: id) }
        if needsRival, !isRivalFirst, target >= 5 { receive(confirm(rival, isRight: true), on: rival) }
        if target == 7 { receive(isControlling ? .selected : .select, on: id) }
        if state == "ended" { lose(id) }
        #expect(self.state == state, "the test did not get there")
    }

    /// Applies one event of the table, and returns its results.
    func apply(_ event: String) throws -> Consequences {
        switch event {
        case "secured": return secure(id)
        case "hello": return receive(hello(id))
        case "helloRefused": return receive(hello(id, isFitting: false))
        case "trusted", "distrusted": machine.decide(peer, isTrusted: event == "trusted", at: now)
        case "confirm", "confirmWrong": return receive(confirm(id, isRight: event == "confirm"))
        case "nominate": lose(rival)
        case "select": return receive(.select)
        case "selected": return receive(.selected)
        case "close": return receive(.close(.goodbye, reason: ""))
        case "lost": lose(id)
        case "deadline": wait()
        // A session that leaves would send GOODBYE after its SELECT. [close.goodbye]
        case "cancel" where ["linked", "selecting"].contains(state): machine.cancel(peer, at: now)
        case "cancel": machine.cancelAll(at: now)
        case "otherFrame": return receive(.message([1]))
        default: Issue.record("\(event) is not an event that this test knows")
        }
        return note()
    }

    @discardableResult
    func receive(_ frame: Frame) -> Consequences { receive(frame, on: id) }

    @discardableResult
    private func receive(_ frame: Frame, on connection: ConnectionID) -> Consequences {
        let bytes = frame.bytes
        let header = FrameHeader(bytes.span.extracting(0..<FrameHeader.byteCount))
        machine.receive(
            connection, header, bytes.span.extracting(FrameHeader.byteCount..<bytes.count), at: now)
        return note()
    }

    @discardableResult
    private func secure(_ connection: ConnectionID) -> Consequences {
        machine.secured(connection, .plain, nonce: [UInt8](repeating: 0x0A, count: 32), at: now)
        return note()
    }

    private func lose(_ connection: ConnectionID) {
        machine.lost(connection, .lost, at: now)
        if connection == id, !isLinked { isOver = true }
    }

    /// Lets the timer of the state expire, which began with the state.
    private func wait() {
        let duration: Duration =
            switch state {
            case "securing", "greeting": HandshakeTiming.greeting
            case "deciding", "decidingConfirmed", "confirming": HandshakeTiming.decision
            default: HandshakeTiming.selection
            }
        machine.advance(to: now + duration)
    }

    @discardableResult
    private func note() -> Consequences {
        var found = Consequences()
        for action in machine.takeActions() {
            switch action {
            case .send(let place, let frame):
                let kind = FrameHeader(frame.span.extracting(0..<FrameHeader.byteCount)).kind
                if kind == .hello { hellos[place] = frame }
                guard place == id else { continue }
                found.sent.append(kind)
                isSelected = isSelected || kind == .select
            case .close(id, let code):
                found.told = code
                isOver = true
            case .ask(_, id): found.isAsked = true
            case .link(id, _, remote: _, isMesh: _): (found.isLinked, isLinked) = (true, true)
            default: break
            }
        }
        return found
    }
}

// MARK: the peer's frames

extension Bench {
    private func hello(_ connection: ConnectionID, isFitting: Bool = true) -> Frame {
        let receiver = Endpoint(uid: issued.endpoint.uid, instance: isFitting ? issued.endpoint.instance : 77)
        return .hello(
            Hello(
                versions: [1], sender: held.endpoint, receiver: receiver, myDataReference: held.reference,
                yourDataReference: issued.reference, nonce: [UInt8](repeating: 0x0B, count: 32)))
    }

    private func confirm(_ connection: ConnectionID, isRight: Bool) -> Frame {
        let ours = hellos[connection] ?? []
        let theirs = hello(connection).bytes
        let isDialledByUs = connection == id && dial == .initiator
        let key = LinkConfirmation.key(
            initiator: isDialledByUs ? issued.token : held.token,
            responder: isDialledByUs ? held.token : issued.token)
        let transcript = LinkConfirmation.transcript(
            initiator: isDialledByUs ? ours : theirs, responder: isDialledByUs ? theirs : ours)
        var mac = LinkConfirmation.mac(
            of: isDialledByUs ? .responder : .initiator, key: key, transcript: transcript,
            binding: [UInt8](repeating: 0, count: 32))
        if !isRight { mac[31] ^= 1 }
        return .confirm(mac: mac)
    }
}
