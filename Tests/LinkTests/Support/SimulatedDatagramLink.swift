import MultipeerCore
import MultipeerFraming
import MultipeerLink
import TestSupport

/// A stand-in for a DTLS channel: two round trips, keyed by the context, so that two ends agree only when they began
/// with the same pair of numbers. As with the real one, a flight of another pair is fatal during the handshake, and
/// records of another pair are ignored.
private struct MockChannel {
    let isClient: Bool
    let key: [UInt8]
    private(set) var isEstablished = false
    private(set) var flights = 0
    private(set) var output: [[UInt8]] = []
    private var last: [UInt8] = []

    struct Fault: Error {}

    init(isClient: Bool, key: [UInt8]) {
        self.isClient = isClient
        self.key = key
        if isClient { make(1) }
    }

    private mutating func make(_ flight: UInt8) {
        flights += 1
        last = [flight] + key
        output.append(last)
    }

    mutating func retransmit() { if !isEstablished, !last.isEmpty { output.append(last) } }

    mutating func takeOutput() -> [[UInt8]] {
        defer { output = [] }
        return output
    }

    func protect(_ content: [UInt8]) -> [UInt8] { [0] + key + content }

    /// Returns the content, if there is one.
    mutating func receive(_ bytes: [UInt8]) throws(Fault) -> [UInt8]? {
        let isMine = Array(bytes.dropFirst().prefix(16)) == key
        switch (bytes[0], isClient, isMine) {
        case (0, _, true): return isEstablished ? Array(bytes.dropFirst(17)) : nil
        case (2, true, false) where !isEstablished, (3, false, false) where !isEstablished: throw Fault()
        case (1, false, true) where flights == 0: make(2)
        case (2, true, true) where flights == 1: make(3)
        case (3, false, true):
            isEstablished = true
            output.append([4] + key)
        case (4, true, true): isEstablished = true
        default: break
        }
        return nil
    }
}

/// One end: a path, its channel, and a minimal driver.
struct SimulatedDatagramEnd {
    var path: DatagramPath
    private var channel: MockChannel?
    private var random: Seeded
    private let isProtected: Bool
    var offers: [DatagramOffer] = []
    var datagrams: [[UInt8]] = []
    private(set) var isUp = false
    private(set) var context: [UInt8]?
    private(set) var received: [UInt32] = []
    private(set) var byLink = 0
    private(set) var byPath = 0
    private(set) var restarts = 0

    init(isControlling: Bool, isProtected: Bool, seed: UInt64) {
        path = DatagramPath(
            isControlling: isControlling, isProtected: isProtected, port: isControlling ? 1 : 2)
        random = Seeded(seed)
        self.isProtected = isProtected
    }

    mutating func carryOut(at now: Moment) {
        var actions = path.takeActions()
        while !actions.isEmpty {
            for action in actions { carryOut(action, at: now) }
            actions = path.takeActions()
        }
    }

    private mutating func carryOut(_ action: DatagramPath.Action, at now: Moment) {
        switch action {
        case .drawAssociation: offers.append(path.announce(random.next() | 1, at: now))
        case .begin(let context):
            restarts += 1
            self.context = context
            channel = context.map { MockChannel(isClient: path.isControlling, key: $0) }
            channelMoved(at: now)
        case .drop: channel = nil
        case .retransmit:
            channel?.retransmit()
            channelMoved(at: now)
        case .send(let content): send(content)
        case .up: isUp = true
        case .down: isUp = false
        case .withdraw: offers.append(.withdrawn)
        }
    }

    private mutating func channelMoved(at now: Moment) {
        guard let output = channel?.takeOutput(), let flights = channel?.flights else { return }
        for record in output { emit(record) }
        path.handshakeMoved(flights: flights, at: now)
    }

    private mutating func send(_ content: [UInt8]) {
        if isProtected { if let bytes = channel?.protect(content) { emit(bytes) } } else { emit(content) }
    }

    private mutating func emit(_ body: [UInt8]) {
        guard let header = path.header else { return }
        var datagram = ByteBuffer()
        header.encode(into: &datagram)
        datagram.append(body)
        datagrams.append(datagram.takeAll())
    }

    mutating func receive(_ datagram: [UInt8], at now: Moment) {
        guard let header = DatagramHeader(datagram.span), path.admits(header) else { return }
        let body = Array(datagram.dropFirst(DatagramHeader.byteCount))
        if !isProtected { return take(body, at: now) }
        do throws(MockChannel.Fault) {
            let before = channel?.isEstablished
            let content = try channel?.receive(body) ?? nil
            channelMoved(at: now)
            if before == false, channel?.isEstablished == true { path.established(at: now) }
            if let content { take(content, at: now) }
        } catch { path.failed(at: now) }
        carryOut(at: now)
    }

    private mutating func take(_ content: [UInt8], at now: Moment) {
        if path.receive(content.span, at: now).isMessage {
            received.append(content[5...].reduce(0) { $0 << 8 | UInt32($1) })
        }
        carryOut(at: now)
    }

    /// Sends an application's message on the path, or else on the link, which loses nothing.
    mutating func send(message number: UInt32, at now: Moment) {
        guard path.canCarry(4) else {
            byLink += 1
            return
        }
        byPath += 1
        var message = ByteBuffer()
        message.append(number)
        var content = ByteBuffer()
        path.encode(message.takeAll().span, into: &content, at: now)
        send(content.takeAll())
    }
}

/// Two ends, an ordered link between them, an unreliable wire, and virtual time.
struct SimulatedDatagramLink {
    struct NetworkConditions: Sendable {
        /// Of a hundred datagrams, how many are lost, duplicated, or delayed by up to 300 ms.
        var lost = 0
        var doubled = 0
        var delayed = 0
    }

    private struct InFlightDatagram {
        enum Load {
            case offer(DatagramOffer)
            case datagram([UInt8])
        }
        let arrival: Moment
        let order: Int
        let target: Int
        let load: Load
    }

    var weather: NetworkConditions
    private(set) var ends: [SimulatedDatagramEnd]
    private(set) var now = Moment(nanoseconds: 0)
    private(set) var sent: [Set<UInt32>] = [[], []]
    private var random: Seeded
    private var flying: [InFlightDatagram] = []
    private var order = 0
    private var linkFree: [Moment]
    private var nextMessage = Moment(nanoseconds: 0)
    private var number: UInt32 = 0

    init(isProtected: Bool, weather: NetworkConditions, seed: UInt64) {
        self.weather = weather
        random = Seeded(seed)
        linkFree = [now, now]
        ends = [true, false].map {
            SimulatedDatagramEnd(isControlling: $0, isProtected: isProtected, seed: seed &* 2 &+ ($0 ? 1 : 2))
        }
        for index in ends.indices {
            ends[index].carryOut(at: now)
            collect(index)
        }
    }

    /// Whether both carry datagrams, with the same key.
    var isCalm: Bool {
        ends.allSatisfy { $0.isUp && $0.path.canCarry(1) } && ends[0].context == ends[1].context
    }

    mutating func run(for duration: Duration) {
        let end = now + duration
        while now < end {
            let next = flying.min { ($0.arrival, $0.order) < ($1.arrival, $1.order) }
            let deadlines = ends.compactMap(\.path.deadline)
            now = max(now, min(deadlines.min() ?? end, next?.arrival ?? end, nextMessage, end))
            if let next, next.arrival <= now {
                flying.removeAll { $0.order == next.order }
                arrive(next)
            }
            for index in ends.indices {
                ends[index].path.advance(to: now)
                ends[index].carryOut(at: now)
                collect(index)
            }
            if nextMessage <= now { chat() }
        }
    }

    /// Makes the channel of that end fail.
    mutating func strike(_ index: Int) {
        ends[index].path.failed(at: now)
        ends[index].carryOut(at: now)
        collect(index)
    }

    /// Makes that end start again at once.
    mutating func renew(_ index: Int) {
        ends[index].offers.append(ends[index].path.announce(random.next() | 1, at: now))
        ends[index].carryOut(at: now)
        collect(index)
    }

    private mutating func arrive(_ flying: InFlightDatagram) {
        switch flying.load {
        case .offer(let offer):
            ends[flying.target].path.receive(offer, at: now)
            ends[flying.target].carryOut(at: now)
        case .datagram(let bytes): ends[flying.target].receive(bytes, at: now)
        }
    }

    private mutating func chat() {
        nextMessage = now + .milliseconds(500)
        for index in ends.indices {
            number += 1
            sent[index].insert(number)
            ends[index].send(message: number, at: now)
            collect(index)
        }
    }

    private mutating func collect(_ index: Int) {
        for offer in ends[index].offers {
            // The link keeps the order.
            linkFree[index] = max(
                linkFree[index], now + .milliseconds(Int64.random(in: 1...60, using: &random)))
            launch(.offer(offer), to: 1 - index, at: linkFree[index])
        }
        ends[index].offers = []
        for datagram in ends[index].datagrams {
            for _ in 0..<(chance(weather.doubled) ? 2 : 1) where !chance(weather.lost) {
                let delay = Int64.random(in: 1...(chance(weather.delayed) ? 300 : 5), using: &random)
                launch(.datagram(datagram), to: 1 - index, at: now + .milliseconds(delay))
            }
        }
        ends[index].datagrams = []
    }

    private mutating func launch(_ load: InFlightDatagram.Load, to target: Int, at arrival: Moment) {
        order += 1
        flying.append(InFlightDatagram(arrival: arrival, order: order, target: target, load: load))
    }

    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
}
