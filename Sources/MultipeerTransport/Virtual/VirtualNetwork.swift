import MultipeerCore

/// The simulated machines, the network between them, and its history.
package final class VirtualNetwork: Sendable {
    /// Two machines between which nothing gets through.
    private struct Cut: Hashable {
        let lower: Int
        let higher: Int

        init(_ one: Int, _ other: Int) { (lower, higher) = (min(one, other), max(one, other)) }
    }

    private struct State {
        /// By the last part of their addresses, which begin with 1.
        var hosts: [VirtualHost] = []
        var cuts: Set<Cut> = []
        var delay: ClosedRange<Duration> = .milliseconds(1) ... .milliseconds(5)
        var loss = 0.0
        var longestRetransmission: Duration
        var history: [String] = []
    }

    /// 10.0.0.0.
    private static let base: UInt32 = 0x0a00_0000

    package let time: VirtualTime
    private let state: Locked<State>

    /// When TCP repeats what was not acknowledged, at first.
    static let firstRetransmission = Duration.milliseconds(200)
    /// When TCP gives up by itself: `tcp_retries2`.
    static let giveUp = Duration.seconds(924)
    /// The longest time between two repetitions: of a kernel in which sessions set it, and of an older one.
    private static let longestRetransmissions = (chosen: Duration.seconds(1), fixed: Duration.seconds(120))

    package init(seed: UInt64) {
        time = VirtualTime(seed: seed)
        // Half of all networks have machines with older kernels.
        let isChosen = seed.nonzeroBitCount.isMultiple(of: 2)
        let longest = VirtualNetwork.longestRetransmissions
        state = Locked(State(longestRetransmission: isChosen ? longest.chosen : longest.fixed))
    }

    var longestRetransmission: Duration { state.withLock { $0.longestRetransmission } }

    // MARK: machines

    /// A new machine, 65,535 at most.
    package func addHost(_ name: String) -> VirtualHost {
        state.withLock { state in
            precondition(state.hosts.count < 65_535, "no address is left")
            let number = state.hosts.count + 1
            let host = VirtualHost(name, number, .v4(VirtualNetwork.base + UInt32(number)), in: self)
            state.hosts.append(host)
            return host
        }
    }

    var machines: [VirtualHost] { state.withLock { $0.hosts } }

    /// Returns the machine at that address, as seen from `host`.
    func host(at address: SocketAddress.Host, from host: VirtualHost) -> VirtualHost? {
        if address.isLoopback { return host }
        guard case .v4(let number) = address.unmapped, number > VirtualNetwork.base else { return nil }
        let index = Int(number - VirtualNetwork.base) - 1
        return state.withLock { $0.hosts.indices.contains(index) ? $0.hosts[index] : nil }
    }

    /// Releases the references that the machines hold to each other.
    package func dismantle() {
        for host in state.withLock({ $0.hosts }) { host.dismantle() }
        state.withLock { $0.hosts = [] }
        time.dismantle()
    }

    // MARK: the network between them

    /// The delay of bytes, datagrams and discovery events: drawn separately for each.
    package var delay: ClosedRange<Duration> {
        get { state.withLock { $0.delay } }
        set { state.withLock { $0.delay = newValue } }
    }

    /// The share of datagrams, and of discovery events, that is lost.
    package var loss: Double {
        get { state.withLock { $0.loss } }
        set { state.withLock { $0.loss = newValue } }
    }

    package func isOpen(_ one: VirtualHost, _ other: VirtualHost) -> Bool {
        guard !one.isGone, !other.isGone else { return false }
        return state.withLock { !$0.cuts.contains(Cut(one.number, other.number)) }
    }

    /// Blocks everything from one group to the other until `heal`. A machine that is in neither reaches both.
    package func partition(_ one: [VirtualHost], _ other: [VirtualHost]) {
        state.withLock { state in
            for here in one {
                for there in other where here !== there { state.cuts.insert(Cut(here.number, there.number)) }
            }
        }
        let sides = [one, other].map { $0.map(\.name).joined(separator: " ") }
        note("partition: \(sides[0]) | \(sides[1])")
    }

    /// Ends all partitions. Connections that have come through them go on when TCP next repeats what was lost.
    package func heal() {
        state.withLock { $0.cuts = [] }
        note("heal")
    }

    func draw(using jitter: inout Jitter) -> Duration {
        let delay = delay
        let (least, most) = (delay.lowerBound.wholeNanoseconds, delay.upperBound.wholeNanoseconds)
        return .nanoseconds(Int64.random(in: max(0, least)...max(0, least, most), using: &jitter))
    }

    package func drawDelay() -> Duration {
        var jitter = Jitter(seed: time.random())
        return draw(using: &jitter)
    }

    package func drawLoss() -> Bool {
        let loss = loss
        guard loss > 0 else { return false }
        var jitter = Jitter(seed: time.random())
        return Double.random(in: 0..<1, using: &jitter) < loss
    }

    // MARK: the history

    package var history: [String] { state.withLock { $0.history } }

    /// Adds a line, with the virtual time in seconds before it.
    package func note(_ text: String) {
        let microseconds = time.elapsed.wholeNanoseconds / 1_000
        let fraction = String(microseconds % 1_000_000)
        let zeros = String(repeating: "0", count: 6 - fraction.count)
        let line = "\(microseconds / 1_000_000).\(zeros)\(fraction) \(text)"
        state.withLock { $0.history.append(line) }
    }
}
