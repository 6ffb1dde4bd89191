import MultipeerCore
import MultipeerFraming
import MultipeerLink

extension FuzzBody {
    /// A list of what happens to the path of datagrams: offers, contents from the network, time. Every content also
    /// comes as a UDP payload, and both are parsed a second time by simple code that follows the spec.
    package static let datagramHeader = FuzzBody("datagram-header") { bytes throws(BrokenPromise) in
        var input = InputReader(bytes)
        var stage = PathStage(input.byte())
        var steps = 0
        while !input.isAtEnd, steps < 400 {
            steps += 1
            try stage.step(&input)
        }
    }
}

private struct PathStage {
    private var path: DatagramPath
    private let isProtected: Bool
    private var now = Moment(nanoseconds: 1_000_000_000)
    private var association: UInt64 = 0
    /// Draws the values that must be unpredictable.
    private var last: UInt64 = 0
    private var isUp = false
    /// The numbers of messages since the last pair of associations.
    private var seen: Set<UInt32> = []
    private var sent: Set<UInt32> = []
    private var newest: UInt32?
    private var lastPing: [UInt8] = []

    init(_ choice: UInt8) {
        isProtected = choice & 1 == 1
        path = DatagramPath(isControlling: choice & 2 == 2, isProtected: isProtected, port: 5_000)
    }

    mutating func step(_ input: inout InputReader) throws(BrokenPromise) {
        let operation = input.byte()
        switch operation & 0x0F {
        case 0...3: try content(input.bytes(Int(input.byte())))
        case 4:
            // A message whose number is close to the others.
            let number = (newest ?? 0) &+ UInt32(input.byte()) &- 100
            try content(encoded(.message, number, [1]))
        case 5: try content(encoded(.pong, (newest ?? 0) &+ 1, lastPing))
        case 6:
            try content(
                encoded(.ping, (newest ?? 0) &+ UInt32(input.byte()), [UInt8](repeating: operation, count: 8))
            )
        case 7: try datagram(input.bytes(Int(input.byte())))
        case 8:
            try datagram(
                [input.byte() % 4] + bigEndian(input.byte() & 1 == 0 ? association : 1) + [operation])
        case 9:
            let number = UInt64(input.byte() % 4)
            path.receive(DatagramOffer(association: number, port: UInt16(input.byte() % 3)), at: now)
        case 10: path.established(at: now)
        case 11: path.failed(at: now)
        case 12: path.handshakeMoved(flights: Int(input.byte()), at: now)
        case 13: try pass(.milliseconds(Int(input.byte()) * 50))
        case 14: try pass(.seconds(Int(input.byte())))
        default:
            path.receive(
                DatagramOffer(association: UInt64(input.byte()), port: 6_000, flags: operation), at: now)
        }
        try carryOut()
    }

    private mutating func pass(_ duration: Duration) throws(BrokenPromise) {
        now = now + duration
        path.advance(to: now)
        try promise(
            (path.deadline ?? .distantFuture) > now,
            "after the time has advanced, the deadline is in the future or nil")
    }

    // MARK: receiving

    private func datagram(_ bytes: [UInt8]) throws(BrokenPromise) {
        let header = DatagramHeader(bytes.span)
        let isForm = (10...1_200).contains(bytes.count) && (1...2).contains(bytes[0])
        try promise((header != nil) == isForm, "a header is read exactly when it is valid")
        guard let header else { return }
        try promise(
            bigEndian(header.association) == Array(bytes[1...8]), "the association is the next eight bytes")
        let isOurs = header.association == path.association && bytes[0] == (isProtected ? 1 : 2)
        try promise(path.admits(header) == (isOurs && isRunning), "only datagrams for this path are admitted")
        var again = ByteBuffer()
        header.encode(into: &again)
        try promise(
            again.takeAll() == Array(bytes.prefix(9)),
            "a header is written to the bytes that it was read from")
    }

    private var isRunning: Bool {
        switch path.phase {
        case .idle, .resting: false
        case .shakingHands, .probing, .up: true
        }
    }

    private var isOpen: Bool {
        switch path.phase {
        case .idle, .resting, .shakingHands: false
        case .probing, .up: true
        }
    }

    private mutating func content(_ bytes: [UInt8]) throws(BrokenPromise) {
        let (dropped, isOpen) = (path.dropped, isOpen)
        let verdict = path.receive(bytes.span, at: now)
        let number = bytes.dropFirst().prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        let isForm =
            bytes.count >= 5
            && (bytes[0] == 1 ? bytes.count <= 1_155 : (2...3).contains(bytes[0]) && bytes.count == 13)
        let lag = newest.map { Int(Int32(bitPattern: $0 &- number)) } ?? -1
        let isNew = lag < 0 ? lag > Int(Int32.min) : lag < 64 && !seen.contains(number)
        let isTaken = isOpen && isForm && isNew
        try promise(
            (path.dropped == dropped) == isTaken,
            "invalid and repeated contents are dropped and counted")
        try promise(
            verdict.isMessage == (isTaken && bytes.first == 1),
            "only content of kind 1 is delivered as a message")
        try promise(
            verdict.movesPeer == (isTaken && isProtected && lag < 0),
            "only the newest authenticated content changes the peer's address")
        guard isTaken else { return }
        seen.insert(number)
        if lag < 0 { newest = number }
    }

    // MARK: the path's actions

    private mutating func carryOut() throws(BrokenPromise) {
        var actions = path.takeActions()
        while !actions.isEmpty {
            switch actions.removeFirst() {
            case .drawAssociation:
                last += 1
                association = path.announce(last, at: now).association
                actions += path.takeActions()
            case .begin(let context):
                try promise((context != nil) == isProtected, "a plain link has no key")
                if let context {
                    try promise(context.count == 16, "the context consists of both associations")
                }
            case .drop: break
            case .retransmit: try promise(isProtected, "a plain link retransmits no flights")
            case .send(let content):
                try promise(
                    content.count == 13 && (2...3).contains(content[0]), "pings and pongs have their kind")
                let number = content[1...4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
                try promise(sent.insert(number).inserted, "no sequence number is used twice")
                if content[0] == 2 { lastPing = Array(content[5...]) }
            case .up:
                try promise(!isUp, "the path comes up once")
                isUp = true
            case .down:
                try promise(isUp, "the path goes down only after it was up")
                isUp = false
            case .withdraw: try promise(!isRunning, "an end that rests takes nothing")
            }
        }
        try promise(
            path.canCarry(1_150) == isUp && !path.canCarry(1_151), "messages use the path while it is up")
        try promise(
            (path.header != nil) == isRunning, "there is a header if and only if there are two associations")
    }

    private func encoded(_ kind: ContentHeader.Kind, _ number: UInt32, _ body: [UInt8]) -> [UInt8] {
        var content = ByteBuffer()
        ContentHeader(kind, sequence: number).encode(into: &content)
        content.append(body)
        return content.takeAll()
    }

    private func bigEndian(_ value: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: value >> (56 - 8 * $0)) }
    }
}
