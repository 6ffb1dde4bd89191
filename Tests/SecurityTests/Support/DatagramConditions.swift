import MultipeerSecurity
import TestSupport

/// What a wire does to datagrams.
struct DatagramConditions: Sendable {
    /// Of a hundred datagrams in each direction, how many are lost, duplicated, or delayed enough to be overtaken.
    var lost = 0
    var doubled = 0
    var delayed = 0
    /// Loses a datagram only when this returns true.
    var isLost: (@Sendable (_ fromClient: Bool, _ count: Int) -> Bool)?
}

/// Two ends, a wire, and virtual time in milliseconds: nothing is waited for.
struct DatagramStage: ~Copyable {
    private struct InFlightDatagram {
        let arrival: Int
        let order: Int
        let toServer: Bool
        let bytes: [UInt8]
    }

    /// A retransmission timer: 100 ms, doubling to 1.6 s, restarted with every flight.
    private struct Timer {
        var next = 100
        var interval = 100
        var flight = 0

        mutating func made(_ flights: Int, at now: Int) {
            guard flights > flight else { return }
            (flight, interval, next) = (flights, 100, now + 100)
        }

        mutating func fired(at now: Int) {
            interval = min(interval * 2, 1_600)
            next = now + interval
        }
    }

    var pair: DatagramPair
    private(set) var now = 0
    private(set) var sent = 0
    private var random: Seeded
    private let weather: DatagramConditions
    private var flying: [InFlightDatagram] = []
    private var timers = (client: Timer(), server: Timer())
    private var counts = (client: 0, server: 0)

    init(_ weather: DatagramConditions, seed: UInt64) throws {
        self.weather = weather
        random = Seeded(seed)
        pair = try DatagramPair()
        pair.client.step()
        pair.server.step()
        collect()
    }

    var isDone: Bool { pair.client.isEstablished && pair.server.isEstablished }
    var isBroken: Bool { pair.client.fault != nil || pair.server.fault != nil }

    /// Lets time pass until both are done, or until `end`; returns whether both are.
    mutating func run(until end: Int) throws -> Bool {
        while !isDone, !isBroken, now < end { try step() }
        return isDone
    }

    /// Delivers everything in flight.
    mutating func settle() throws { while !flying.isEmpty { try step() } }

    private mutating func step() throws {
        let arrival = flying.min { ($0.arrival, $0.order) < ($1.arrival, $1.order) }
        var next = arrival?.arrival ?? Int.max
        if !pair.client.isEstablished { next = min(next, timers.client.next) }
        if !pair.server.isEstablished { next = min(next, timers.server.next) }
        now = max(now, next)
        if let arrival, arrival.arrival <= now {
            flying.removeAll { $0.order == arrival.order }
            if arrival.toServer {
                pair.server.receive(arrival.bytes)
            } else {
                pair.client.receive(arrival.bytes)
            }
        }
        if !pair.client.isEstablished, timers.client.next <= now {
            timers.client.fired(at: now)
            try pair.client.channel.retransmit()
        }
        if !pair.server.isEstablished, timers.server.next <= now {
            timers.server.fired(at: now)
            try pair.server.channel.retransmit()
        }
        collect()
    }

    private mutating func collect() {
        timers.client.made(pair.client.channel.flight, at: now)
        timers.server.made(pair.server.channel.flight, at: now)
        for datagram in pair.client.takeDatagrams() { send(datagram, toServer: true) }
        for datagram in pair.server.takeDatagrams() { send(datagram, toServer: false) }
    }

    private mutating func send(_ bytes: [UInt8], toServer: Bool) {
        let count = toServer ? counts.client : counts.server
        if toServer { counts.client += 1 } else { counts.server += 1 }
        if weather.isLost?(toServer, count) ?? false { return }
        for _ in 0..<(chance(weather.doubled) ? 2 : 1) where !chance(weather.lost) {
            let delay = 1 + (chance(weather.delayed) ? Int.random(in: 0..<400, using: &random) : 0)
            flying.append(
                InFlightDatagram(arrival: now + delay, order: sent, toServer: toServer, bytes: bytes))
            sent += 1
        }
    }

    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
}
