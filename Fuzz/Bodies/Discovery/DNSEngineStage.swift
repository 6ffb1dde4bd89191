import MultipeerCore
import MultipeerDiscovery

/// Two engines that receive each other's packets, and a third party. Everything that the engines send and report is
/// checked against what they promise.
struct DNSEngineStage {
    private let cast: DNSFixture
    private var ends: [DNSEngineEnd]
    private var now = Moment(nanoseconds: 1_000_000_000)
    private var underWay: [(bytes: [UInt8], arrival: PacketInfo, to: Int)] = []
    /// The latest datagrams of the engines, at most 16.
    private var sent: [[UInt8]] = []
    /// Where the latest SRV record of an engine pointed, and the id of its latest question from a port of its own.
    private var lastHost: DNSName = "stranger.local"
    private var lastID: UInt16 = 0
    /// Whether the engines do not receive each other's packets.
    var isCut = false

    init(seed: UInt64, knownUnique: Bool) throws(BrokenPromise) {
        cast = try DNSFixture()
        ends = (0..<2).map { number in
            let host = 0xA0A0 + UInt64(number)
            return DNSEngineEnd(
                MulticastDNS(host: host, seed: seed + UInt64(number), knownUnique: knownUnique))
        }
        for number in 0..<2 { try changeScope(number, 0) }
    }

    /// Lets time pass, with everything that falls due in it.
    mutating func wait(_ duration: Duration) throws(BrokenPromise) {
        let end = now + duration
        var steps = 0
        while let next = ends.compactMap(\.engine.deadline).min(), next <= end {
            now = max(now, next)
            try settle()
            steps += 1
            try promise(
                steps <= 1_000 + 200 * Int(duration.components.seconds), "deadlines do not repeat without end"
            )
        }
        now = end
        try settle()
    }

    /// Waits long enough for everything that was begun; then both stop, and send nothing more.
    mutating func end() throws(BrokenPromise) {
        isCut = false
        try wait(.seconds(30))
        for number in ends.indices {
            try promise(ends[number].resolves.isEmpty, "every resolution ends in time")
            ends[number].engine.shutDown(at: now)
            ends[number].browses = [:]
        }
        try settle()
        try wait(.seconds(1))
        for end in ends { try promise(end.engine.isQuiet, "a stopped engine sends nothing a second later") }
    }

    /// Delivers what is in flight until nothing is, and checks the state.
    private mutating func settle() throws(BrokenPromise) {
        for number in ends.indices { try use(number) { engine, now in engine.advance(to: now) } }
        var rounds = 0
        while !underWay.isEmpty {
            let arrived = underWay
            underWay = []
            for (bytes, arrival, number) in arrived {
                try use(number) { engine, now in engine.receive(bytes.span, arrival, at: now) }
            }
            for number in ends.indices { try use(number) { engine, now in engine.advance(to: now) } }
            rounds += 1
            try promise(rounds <= 16, "two engines do not exchange messages endlessly at one moment")
        }
        for end in ends { try end.check(at: now) }
    }

    /// Calls an engine, and carries out its actions.
    @discardableResult
    private mutating func use<Result>(
        _ number: Int, _ body: (inout MulticastDNS, Moment) -> Result
    ) throws(BrokenPromise) -> Result {
        let result = body(&ends[number].engine, now)
        for datagram in try ends[number].takeDatagrams(at: now) { send(datagram, from: number) }
        return result
    }

    private mutating func send(_ datagram: DNSDatagram, from number: Int) {
        sent = sent.suffix(15) + [datagram.bytes]
        for case .srv(_, _, _, let target) in datagram.message.answers.map(\.data) { lastHost = target }
        let own = [10, 0, UInt8(truncatingIfNeeded: datagram.scope), UInt8(number + 1)]
        var arrival = PacketInfo(scope: datagram.scope, family: .v4, from: own, port: 5_353)
        switch datagram.way {
        case .multicast: break
        case .ask:
            lastID = datagram.message.id
            arrival.port = 40_000 + UInt16(number)
        case .unicast(_, let port):
            arrival.isOneShot = port >= 40_000
            let other = port == 40_000 + UInt16(1 - number)
            if other, !isCut { underWay.append((datagram.bytes, arrival, 1 - number)) }
            return
        }
        for other in ends.indices where other == number || !isCut {
            underWay.append((datagram.bytes, arrival, other))
        }
    }
}

/// Calls.
extension DNSEngineStage {
    mutating func advertise(_ number: Int, _ choice: UInt8) throws(BrokenPromise) {
        let advert = cast.advert(choice)
        if let id = try use(number, { engine, now in try? engine.advertise(advert, at: now) }) {
            ends[number].adverts.append(id)
        }
        try settle()
    }

    mutating func withdraw(_ number: Int, _ choice: UInt8) throws(BrokenPromise) {
        guard !ends[number].adverts.isEmpty else { return }
        let id = ends[number].adverts.remove(at: Int(choice) % ends[number].adverts.count)
        try use(number) { engine, now in engine.withdraw(id, at: now) }
        try settle()
    }

    mutating func update(_ number: Int, _ choice: UInt8) throws(BrokenPromise) {
        guard !ends[number].adverts.isEmpty else { return }
        let id = ends[number].adverts[Int(choice & 15) % ends[number].adverts.count]
        let info = cast.info(choice)
        try use(number) { engine, now in engine.update(id, info: info, at: now) }
        try settle()
    }

    mutating func browse(_ number: Int, _ choice: UInt8) throws(BrokenPromise) {
        let type = cast.type(choice)
        let hidden = choice & 0x80 == 0 ? nil : cast.peer(choice).uid
        // What is known already is reported before the call returns.
        if let id = try? ends[number].engine.browse(type, hiding: hidden, at: now) {
            ends[number].browses[id] = ReportedPeers(hidden: hidden)
        }
        try settle()
    }

    mutating func stopBrowsing(_ number: Int, _ choice: UInt8) throws(BrokenPromise) {
        let ids = ends[number].browses.keys.sorted()
        guard !ids.isEmpty else { return }
        let id = ids[Int(choice) % ids.count]
        ends[number].engine.stopBrowsing(id, at: now)
        ends[number].browses[id] = nil
        try settle()
    }

    mutating func resolve(_ number: Int, _ choice: UInt8) throws(BrokenPromise) {
        let within = Duration.milliseconds(100 * Int(choice))
        let id = ends[number].engine.resolve(
            cast.peer(choice).uid, of: cast.type(choice), within: within, at: now)
        ends[number].resolves[id] = now + within
        try settle()
    }

    mutating func miss(_ number: Int, _ choice: UInt8) throws(BrokenPromise) {
        let (uid, type) = (cast.peer(choice).uid, cast.type(choice))
        try use(number) { engine, now in
            engine.miss(uid, of: type, at: now)
            if choice >= 64 { engine.reached(uid, of: type, at: now) }
            if choice >= 192 { engine.regain(uid, of: type) }
        }
        try settle()
    }

    mutating func wake(_ number: Int) throws(BrokenPromise) {
        try use(number) { engine, now in engine.woke(at: now) }
        try settle()
    }
}

/// The link.
extension DNSEngineStage {
    /// Changes one of two interfaces, with or without IPv6, and with packets of several sizes.
    mutating func changeScope(_ number: Int, _ choice: UInt8) throws(BrokenPromise) {
        let id = 1 + UInt32(choice & 1)
        let mtu = [1_500, 576, 9_000, 65_536][Int(choice >> 2 & 3)]
        var addresses = [Scope.Address([10, 0, UInt8(id), UInt8(number + 1)], prefix: 24)]
        if choice & 2 == 2 {
            let address = [0xFE, 0x80] + [UInt8](repeating: UInt8(number), count: 14)
            addresses.append(Scope.Address(address, prefix: 64))
        }
        if choice & 0x80 == 0x80 { addresses = addresses.dropFirst() + [] }
        let scope = Scope(
            id: id, addresses: addresses, families: choice & 2 == 2 ? [.v4, .v6] : [.v4], mtu: mtu)
        ends[number].mtus[id] = mtu
        try use(number) { engine, now in engine.scopeChanged(scope, at: now) }
        try settle()
    }

    mutating func dropScope(_ number: Int, _ choice: UInt8) throws(BrokenPromise) {
        try use(number) { engine, now in engine.scopeGone(1 + UInt32(choice & 1), at: now) }
        try settle()
    }
}

/// The third party.
extension DNSEngineStage {
    mutating func hear(_ choice: UInt8, raw bytes: [UInt8]) throws(BrokenPromise) {
        for number in ends.indices { underWay.append((bytes, arrival(choice), number)) }
        try settle()
    }

    mutating func hear(_ choice: UInt8, composed input: inout InputReader) throws(BrokenPromise) {
        let message = DNSComposer(cast: cast, host: lastHost).message(&input, id: lastID)
        if let bytes = try? message.encoded() { try hear(choice, raw: bytes) }
    }

    /// Sends again something that an engine sent, perhaps with one byte changed.
    mutating func echo(
        _ index: UInt8, changing place: Int, to byte: UInt8, as choice: UInt8
    ) throws(BrokenPromise) {
        guard !sent.isEmpty else { return }
        var bytes = sent[Int(index) % sent.count]
        if place < bytes.count { bytes[place] = byte }
        try hear(choice, raw: bytes)
    }

    private func arrival(_ choice: UInt8) -> PacketInfo {
        let from: [[UInt8]] = [[10, 0, 1, 9], [10, 0, 1, 1], [192, 0, 2, 1], [0, 0, 0, 0]]
        let ports: [UInt16] = [5_353, 5_353, 40_009, 0]
        return PacketInfo(
            scope: choice & 0x20 == 0 ? 1 : 2, family: choice & 0x40 == 0 ? .v4 : .v6,
            from: choice & 0x40 == 0
                ? from[Int(choice & 3)] : [0xFE, 0x80] + [UInt8](repeating: choice & 3, count: 14),
            port: ports[Int(choice >> 2 & 3)], isOneShot: choice & 0x10 == 0x10)
    }
}
