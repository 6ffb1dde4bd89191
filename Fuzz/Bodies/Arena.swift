import MultipeerCore
import MultipeerFraming
import MultipeerIntroduction
import MultipeerSecurity

/// Two sessions, 0 and 1, and the wires between them and an attacker.
///
/// Whatever the network does, a side links only after it got a HELLO and a CONFIRM that the other side made for it;
/// with TLS, only on a wire that ends at the other side.
struct Arena {
    enum Answerer { case peer, attacker, nobody }

    /// A connection. An end that is nil belongs to the attacker.
    struct Wire {
        var ends: [ConnectionID?]
        /// Frames on their way to each side.
        var queues: [[[UInt8]]] = [[], []]
        var isOpen = [true, true]
        var received: [Set<[UInt8]>] = [[], []]
        var hello: [[UInt8]?] = [nil, nil]
    }

    let isEncrypted: Bool
    private(set) var sessions: [Introductions] = []
    private var data: [ConnectionData?] = [nil, nil]
    private var wires: [Wire] = []
    private var dials: [[ConnectionID]] = [[], []]
    private var asked: [[UID]] = [[], []]
    private var links: [Set<ConnectionID>] = [[], []]
    private var closed: [Set<ConnectionID>] = [[], []]
    /// Every HELLO and CONFIRM that a side ever sent, and that it ever received.
    private var sent: [Set<[UInt8]>] = [[], []]
    private var received: [Set<[UInt8]>] = [[], []]
    private var now = Moment(nanoseconds: 0)
    private var serial: UInt64 = 0

    init(isEncrypted: Bool) throws(BrokenPromise) {
        self.isEncrypted = isEncrypted
        sessions = [0, 1].compactMap { session($0) }
        for side in [0, 1] { data[side] = issue(side) }
        for side in [0, 1] { try connect(side) }
    }

    // MARK: the network

    mutating func deliver(on choice: Int, to side: Int) throws(BrokenPromise) {
        guard let index = pick(choice, where: { $0.isOpen[side] }) else { return }
        guard !wires[index].queues[side].isEmpty else {
            // The other end closed, and everything it sent has come.
            if !wires[index].isOpen[1 - side] { try lose(index, side) }
            return
        }
        let frame = wires[index].queues[side].removeFirst()
        guard let id = wires[index].ends[side], !links[side].contains(id) else { return }
        let header = FrameHeader(frame.span.extracting(0..<FrameHeader.byteCount))
        if isProof(frame) {
            wires[index].received[side].insert(frame)
            received[side].insert(frame)
        }
        let payload = frame.span.extracting(FrameHeader.byteCount..<frame.count)
        sessions[side].receive(id, header, payload, at: now)
        try carryOut(side)
    }

    mutating func deliverEverything() throws(BrokenPromise) {
        for _ in 0..<8 {
            for index in wires.indices {
                for side in [0, 1] where wires[index].isOpen[side] && !wires[index].queues[side].isEmpty {
                    try deliver(on: index, to: side)
                }
            }
        }
    }

    mutating func answerDial(of side: Int, _ choice: Int, by answerer: Answerer) throws(BrokenPromise) {
        guard !dials[side].isEmpty else { return }
        let id = dials[side].remove(at: choice % dials[side].count)
        guard !closed[side].contains(id) else { return }
        var wire = Wire(ends: [nil, nil])
        wire.ends[side] = id
        switch answerer {
        case .nobody:
            sessions[side].lost(id, .unreachable("nobody"), at: now)
            return try carryOut(side)
        case .peer:
            wire.ends[1 - side] = sessions[1 - side].accepted(at: now)
        case .attacker:
            // Somebody else's key does not pass the pin inside TLS.
            guard !isEncrypted else {
                sessions[side].lost(id, .security(.peer(.strangerCertificate)), at: now)
                return try carryOut(side)
            }
        }
        wires.append(wire)
        for end in [0, 1] { try secure(wires.count - 1, end) }
    }

    /// The attacker dials a side.
    mutating func intrude(on side: Int) throws(BrokenPromise) {
        guard wires.count < 100 else { return }
        var wire = Wire(ends: [nil, nil])
        wire.ends[side] = sessions[side].accepted(at: now)
        wires.append(wire)
        try secure(wires.count - 1, side)
    }

    mutating func flip(on choice: Int, to side: Int, bit: Int) {
        guard let index = pick(choice, where: { $0.isOpen[side] && !$0.queues[side].isEmpty }) else { return }
        let count = wires[index].queues[side][0].count - FrameHeader.byteCount
        guard count > 0 else { return }
        let place = FrameHeader.byteCount + bit / 8 % count
        wires[index].queues[side][0][place] ^= 1 << UInt8(bit % 8)
    }

    mutating func inject(on choice: Int, to side: Int, _ frame: [UInt8]) {
        guard let index = pick(choice, where: { $0.isOpen[side] }) else { return }
        // Inside TLS only the holder of the keys can say anything.
        guard !isEncrypted || wires[index].ends[1 - side] == nil else { return }
        wires[index].queues[side].insert(frame, at: 0)
    }

    /// Says on one wire what was once said on any, a proof first of all.
    mutating func replay(on choice: Int, to side: Int, _ which: Int) {
        let known = (sent[0].union(sent[1])).sorted { $0.lexicographicallyPrecedes($1) }
        guard !known.isEmpty else { return }
        inject(on: choice, to: side, known[which % known.count])
    }

    mutating func cut(_ choice: Int) throws(BrokenPromise) {
        guard let index = pick(choice, where: { $0.isOpen.contains(true) }) else { return }
        for side in [0, 1] { try lose(index, side) }
    }

    // MARK: the application and the clock

    mutating func decide(on side: Int, isTrusted: Bool) throws(BrokenPromise) {
        guard !asked[side].isEmpty else { return }
        sessions[side].decide(asked[side].removeFirst(), isTrusted: isTrusted, at: now)
        try carryOut(side)
    }

    mutating func pass(_ duration: Duration) throws(BrokenPromise) {
        now = now + duration
        for side in [0, 1] {
            sessions[side].advance(to: now)
            try carryOut(side)
            let deadline = sessions[side].deadline ?? .distantFuture
            try promise(deadline > now, "after the time was told there is something to wait for, or nothing")
        }
    }

    mutating func connect(_ side: Int) throws(BrokenPromise) {
        guard let theirs = data[1 - side] else { return }
        _ = try? sessions[side].connect(with: theirs, zones: [], at: now)
        try carryOut(side)
    }

    mutating func cancel(_ side: Int) throws(BrokenPromise) {
        sessions[side].cancel(peer(1 - side), at: now)
        try carryOut(side)
    }

    /// The process of a side starts again: the same peer, a new instance.
    mutating func restart(_ side: Int) throws(BrokenPromise) {
        guard let fresh = session(side) else { return }
        for index in wires.indices { wires[index].isOpen[side] = false }
        sessions[side] = fresh
        dials[side] = []
        asked[side] = []
        links[side] = []
        closed[side] = []
        data[side] = issue(side)
        for side in [0, 1] { try connect(side) }
    }

    mutating func endLink(of side: Int, mayResume: Bool) throws(BrokenPromise) {
        guard let link = links[side].popFirst() else { return }
        try end(link, of: side, mayResume: mayResume)
        try carryOut(side)
    }

    mutating func answerProbe(of side: Int) throws(BrokenPromise) {
        sessions[side].probeAnswered(by: peer(1 - side), at: now)
        try carryOut(side)
    }
}

extension Arena {
    // MARK: what the sessions order

    private mutating func carryOut(_ side: Int) throws(BrokenPromise) {
        for action in sessions[side].takeActions() {
            switch action {
            case .dial(let id, _, accepting: let key):
                try promise((key != nil) == isEncrypted, "the outcome says whether a key is awaited")
                dials[side].append(id)
            case .send(let id, let frame): try send(frame, from: side, on: id)
            case .close(let id, let code):
                try promise(!closed[side].contains(id), "a connection is closed once")
                say(code, from: side, on: id)
                close(id, of: side)
            case .ask(let uid, let id):
                try promise(!closed[side].contains(id), "nothing is asked about a closed connection")
                asked[side].append(uid)
            case .link(let id, _, remote: _, isMesh: _): try link(id, of: side)
            case .supersede(let id), .unanswered(let id):
                try promise(links[side].remove(id) != nil, "only a link is superseded or found dead")
                try end(id, of: side, mayResume: false)
            case .probe(let id): try promise(links[side].contains(id), "only a link is probed")
            case .seek, .fail, .met: break
            }
        }
        try promise(links[side].count <= 1, "a peer has one link")
    }

    private mutating func send(_ frame: [UInt8], from side: Int, on id: ConnectionID) throws(BrokenPromise) {
        try promise(!closed[side].contains(id), "nothing is sent on a closed connection")
        if isProof(frame) { sent[side].insert(frame) }
        guard let index = wire(id, of: side) else { return }
        if frame[3] == FrameKind.hello.rawValue { wires[index].hello[side] = frame }
        wires[index].queues[1 - side].append(frame)
    }

    private mutating func say(_ code: CloseCode, from side: Int, on id: ConnectionID) {
        guard let index = wire(id, of: side) else { return }
        var frame = ByteBuffer()
        Frame.close(code, reason: "").encode(into: &frame)
        wires[index].queues[1 - side].append(frame.takeAll())
    }

    private mutating func link(_ id: ConnectionID, of side: Int) throws(BrokenPromise) {
        try promise(!closed[side].contains(id), "a closed connection is no link")
        guard let wire = wire(id, of: side).map({ wires[$0] }) else {
            throw BrokenPromise(description: "a link is a connection that exists")
        }
        let proofs = wire.received[side].intersection(sent[1 - side])
        try promise(
            Set(proofs.map { $0[3] }) == [FrameKind.hello.rawValue, FrameKind.confirm.rawValue],
            "nobody is linked without a HELLO and a CONFIRM of the peer")
        try promise(wire.received[side] == proofs, "nobody is linked who also got forged ones")
        let own = wire.hello[side].map { received[1 - side].contains($0) } ?? false
        try promise(own, "nobody is linked whose own HELLO did not arrive as it was")
        try promise(!isEncrypted || wire.ends[1 - side] != nil, "inside TLS a link ends at the peer")
        links[side].insert(id)
    }

    private mutating func end(_ link: ConnectionID, of side: Int, mayResume: Bool) throws(BrokenPromise) {
        close(link, of: side)
        sessions[side].linkEnded(link, of: peer(1 - side), mayResume: mayResume, at: now)
        try carryOut(side)
    }

    private mutating func close(_ id: ConnectionID, of side: Int) {
        closed[side].insert(id)
        if let index = wire(id, of: side) { wires[index].isOpen[side] = false }
    }

    private mutating func lose(_ index: Int, _ side: Int) throws(BrokenPromise) {
        guard wires[index].isOpen[side] else { return }
        wires[index].isOpen[side] = false
        guard let id = wires[index].ends[side], !closed[side].contains(id) else { return }
        if links[side].remove(id) != nil { return try end(id, of: side, mayResume: false) }
        closed[side].insert(id)
        sessions[side].lost(id, .lost, at: now)
        try carryOut(side)
    }

    // MARK: making things

    private mutating func secure(_ index: Int, _ side: Int) throws(BrokenPromise) {
        guard let id = wires[index].ends[side] else { return }
        let isHonest = wires[index].ends[1 - side] != nil
        let binding = [UInt8](repeating: UInt8(truncatingIfNeeded: index), count: 32)
        let key = isHonest ? key(1 - side) : Fingerprint([UInt8](repeating: 0xEE, count: 32))
        let channel: SecuredChannel
        if isEncrypted, let key { channel = .encrypted(key, binding: binding) } else { channel = .plain }
        sessions[side].secured(id, channel, nonce: fresh(), at: now)
        try carryOut(side)
    }

    private mutating func session(_ side: Int) -> Introductions? {
        guard let name = try? PeerID(uid: peer(side), displayName: ["ann", "bob"][side]) else { return nil }
        serial += 1
        let local = LocalPeer(
            peer: name, instance: serial, preference: isEncrypted ? .required : .none,
            hasIdentity: false,
            fingerprint: isEncrypted ? key(side) : nil)
        return Introductions(local, seed: serial)
    }

    private mutating func issue(_ side: Int) -> ConnectionData? {
        let candidates = [Candidate(address: [192, 0, 2, UInt8(side + 1)], port: 5_000)].compactMap { $0 }
        return try? sessions[side].connectionData(for: nil, candidates: candidates, token: fresh(), at: now)
    }

    private func peer(_ side: Int) -> UID { UID(high: 0, low: UInt64(side + 1)) }

    private func key(_ side: Int) -> Fingerprint? {
        Fingerprint([UInt8](repeating: UInt8(side + 1), count: 32))
    }

    /// 32 bytes that were not there before.
    private mutating func fresh() -> [UInt8] {
        serial += 1
        return SHA256.hash((0..<8).map { UInt8(truncatingIfNeeded: serial >> (8 * $0)) })
    }

    /// Of the instance that lives: the ids of an earlier one come again.
    private func wire(_ id: ConnectionID, of side: Int) -> Int? {
        wires.firstIndex { $0.ends[side] == id && $0.isOpen[side] }
    }

    private func pick(_ choice: Int, where fits: (Wire) -> Bool) -> Int? {
        let fitting = wires.indices.filter { fits(wires[$0]) }
        return fitting.isEmpty ? nil : fitting[choice % fitting.count]
    }

    private func isProof(_ frame: [UInt8]) -> Bool {
        frame[3] == FrameKind.hello.rawValue || frame[3] == FrameKind.confirm.rawValue
    }
}
