import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import TestSupport
import Testing

/// A session and the connections of one peer, which dials it: what it does with them, step by step.
struct SelectionSteps: VectorBody {
    static let type = "selection"
    let part: String
    let steps: [Step]

    struct Step: Decodable {
        let at: Int
        let `do`: String
        let connection: UInt32?
        let does: [String]
    }
}

@Suite("6.4 and 6.5 Vectors of the selection", .computing)
struct SelectionVectorTests {
    @Test(
        "one candidate becomes the link, and replaces a link only if that is lost [select.lower] [select.one] [select.answer] [select.duplicates] [select.next] [link.timeouts] [stale.supersede] [stale.probe] [stale.busy]",
        arguments: try VectorFiles.all(SelectionSteps.self))
    func selection(_ vector: Vector<SelectionSteps>) throws {
        var session = try SelectingSession(isControlling: vector.body.part == "controlling")
        for step in vector.body.steps {
            #expect(try session.perform(step) == step.does, "\(step.do) at \(step.at)")
        }
    }
}

/// A session whose peer prefers no encryption; the test plays the peer.
private struct SelectingSession {
    private var machine: LinkEstablishment
    private let own: Endpoint
    private let issued: ConnectionData
    /// The data of the peer's two instances.
    private let instances: [ConnectionData]
    /// The number that the machine gave to each connection of the vector, and the reverse.
    private var ids: [UInt32: ConnectionID] = [:]
    private var numbers: [ConnectionID: UInt32] = [:]
    private var isRestarted = false
    private var link: ConnectionID?
    private var does: [String] = []

    init(isControlling: Bool) throws {
        let peer = UID(high: isControlling ? 9 : 1, low: 1)
        let local = try stranger(UID(high: 5, low: 5))
        own = local.endpoint
        machine = LinkEstablishment(local, seed: 4)
        issued = try machine.issue(for: peer, at: .start)
        instances = try [UInt64(2), 3].map { instance in
            var other = LinkEstablishment(try stranger(peer, instance: instance), seed: 3)
            return try other.issue(for: local.endpoint.uid, at: .start)
        }
        #expect(try machine.connect(with: instances[0], zones: [], at: .start))
        _ = machine.takeActions()
    }

    private var data: ConnectionData { instances[isRestarted ? 1 : 0] }

    mutating func perform(_ step: SelectionSteps.Step) throws -> [String] {
        does = []
        let now = Moment.after(step.at)
        while let deadline = machine.deadline, deadline <= now {
            machine.advance(to: deadline)
            note()
        }
        let id = step.connection.flatMap { ids[$0] }
        switch step.do {
        case "candidate": try candidate(try #require(step.connection), at: now)
        case "select": receive(.select, on: try #require(id), at: now)
        case "selected": receive(.selected, on: try #require(id), at: now)
        case "restart":
            isRestarted = true
            #expect(try machine.connect(with: data, zones: [], at: now))
        case "answer": machine.probeAnswered(by: data.peer.uid, at: now)
        case "lost" where id == link:
            machine.linkEnded(try #require(id), of: data.peer.uid, mayResume: false, at: now)
        case "lost": machine.lost(try #require(id), .lost, at: now)
        default: #expect(step.do == "look")
        }
        note()
        return does
    }

    private mutating func note() {
        for action in machine.takeActions() {
            switch action {
            case .send(let id, let frame):
                let kind = FrameHeader(frame.span.extracting(0..<FrameHeader.byteCount)).kind
                if kind == .select { say("SELECT", id) }
                if kind == .selected { say("SELECTED", id) }
            case .close(let id, let code): say("close", id, code)
            case .probe(let id): say("PING", id)
            case .link(let id, _, remote: _, isMesh: _):
                link = id
                say("link", id)
            case .supersede(let id): say("end", id, .duplicate)
            case .unanswered(let id): say("end", id, .timeout)
            default: break
            }
        }
    }

    /// The session's own dials have no number in the vector.
    private mutating func say(_ word: String, _ id: ConnectionID, _ code: CloseCode? = nil) {
        guard let number = numbers[id] else { return }
        does.append((["\(word) \(number)"] + [code?.name].compactMap { $0 }).joined(separator: " "))
    }
}

// MARK: the peer's frames

extension SelectingSession {
    /// Lets the peer dial, and exchanges HELLO and CONFIRM.
    private mutating func candidate(_ number: UInt32, at now: Moment) throws {
        let id = machine.accepted(at: now)
        (ids[number], numbers[id]) = (id, number)
        machine.secured(id, .plain, nonce: [UInt8](repeating: 0x0A, count: 32), at: now)
        let hello = Frame.hello(
            Hello(
                versions: [1], sender: data.endpoint, receiver: own, myDataReference: data.reference,
                yourDataReference: issued.reference, nonce: [UInt8](repeating: 0x0B, count: 32)))
        receive(hello, on: id, at: now)
        var answer: [UInt8] = []
        for action in machine.takeActions() {
            switch action {
            case .send(id, let frame) where answer.isEmpty: answer = frame
            case .ask(let uid, let asked): machine.decide(uid, asked: asked, isTrusted: true, at: now)
            default: break
            }
        }
        _ = machine.takeActions()
        let key = LinkConfirmation.key(initiator: data.token, responder: issued.token)
        let transcript = LinkConfirmation.transcript(initiator: hello.bytes, responder: answer)
        let mac = LinkConfirmation.mac(
            of: .initiator, key: key, transcript: transcript, binding: [UInt8](repeating: 0, count: 32))
        receive(.confirm(mac: mac), on: id, at: now)
    }

    private mutating func receive(_ frame: Frame, on id: ConnectionID, at now: Moment) {
        let bytes = frame.bytes
        let header = FrameHeader(bytes.span.extracting(0..<FrameHeader.byteCount))
        machine.receive(id, header, bytes.span.extracting(FrameHeader.byteCount..<bytes.count), at: now)
    }
}
