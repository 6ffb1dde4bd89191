public import Multipeer
import MultipeerCore
import MultipeerTransport

/// Machines with a network between them, in virtual time: the application's own `Session`s, `Browser`s, `Advertiser`s and
/// actor systems run on it, in one process, on one thread, from one seed.
///
/// ```swift
/// let network = SimulatedNetwork(seed: 7)
/// try await network.run { network in
///     let (ann, bob) = (try network.host("ann"), try network.host("bob"))
///     let advertiser = try Advertiser(peer: bob.peer, service: "chat", configuration: bob.discovery())
///     let session = try Session(peer: ann.peer, configuration: ann.session())
///     try await chat(advertiser, session)  // the application
///     network.partition([ann], [bob])
///     try await network.clock.sleep(for: .seconds(20))  // takes a few real milliseconds
///     network.heal()
/// }
/// print(network.history)  // the same for the same seed
/// ```
///
/// Everything that makes decisions is what runs in production, down to TLS; the clock, the sockets, discovery and randomness
/// are simulated. When nothing is left to run, the clock jumps to the next moment for which something is planned.
/// <doc:Reproducible> states what has to hold for a run to be the same again.
public final class SimulatedNetwork: Sendable {
    /// The seed of all random numbers.
    public let seed: UInt64

    let machines: VirtualNetwork
    let tasks = RunningTasks()
    private let hosts = Locked<[String: Host]>([:])

    /// Creates a network without machines.
    public init(seed: UInt64) {
        self.seed = seed
        machines = VirtualNetwork(seed: seed)
    }

    deinit { machines.dismantle() }

    // MARK: time

    /// The clock for the application's sleeps, instead of `ContinuousClock`.
    public var clock: Clock { Clock(time: machines.time) }

    /// The virtual time since the network was created.
    public var elapsed: Duration { machines.time.elapsed }

    /// The one thread of the network: tasks that prefer it run there.
    public var executor: any TaskExecutor { machines.time }

    /// Random numbers from the seed for the application, instead of `SystemRandomNumberGenerator`.
    public var randomness: Randomness { Randomness(time: machines.time) }

    // MARK: machines

    /// Returns the machine of that name, which the first call creates, and a new one at another address after it was killed.
    /// Its peer is the same for the same name and seed. Throws for a name that no peer may have.
    public func host(_ name: String) throws(MultipeerError) -> Host {
        if let known = hosts.withLock({ $0[name] }), known.isAlive { return known }
        let peer = try PeerID(uid: uid(for: name), displayName: name)
        let host = Host(peer: peer, machine: machines.addHost(name), tasks: tasks)
        hosts.withLock { $0[name] = host }
        return host
    }

    private func uid(for name: String) -> UID {
        // FNV-1a: the same in each process, as `Hasher` is not.
        let digest = name.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) {
            ($0 ^ UInt64($1)) &* 0x100_0000_01b3
        }
        var random = SeededRandom(seed ^ digest)
        return UID(random: random.next(), random.next())
    }

    // MARK: what is between them

    /// The delay of bytes, datagrams and announcements, drawn separately for each: default 1 to 5 ms. Bytes of one connection stay
    /// in order.
    public var delay: ClosedRange<Duration> {
        get { machines.delay }
        set { machines.delay = newValue }
    }

    /// The share of datagrams and announcements that is lost, 0 to 1; default 0. Connections lose nothing: they wait.
    public var loss: Double {
        get { machines.loss }
        set { machines.loss = newValue }
    }

    /// Blocks everything between the two groups until `heal`. A machine that is in neither reaches both.
    public func partition(_ one: [Host], _ other: [Host]) {
        machines.partition(one.map(\.machine), other.map(\.machine))
    }

    /// Ends all partitions. Connections that survived them go on with what waited when TCP next repeats it: within a second, or where
    /// the seed gives the machines an older kernel, after as long again as it has waited.
    public func heal() { machines.heal() }

    /// Ends the process on a machine: its connections end for the others. With `silently`, the machine itself is gone, and the
    /// others find out when nothing more comes.
    ///
    /// Its sessions, advertisers and browsers end, as if they were released, and its tasks are cancelled; whatever is done
    /// with them afterwards has no effect.
    public func kill(_ host: Host, silently: Bool = false) {
        host.machine.end(silently: silently)
    }

    // MARK: what happened

    /// What happened, one line per event with the virtual time in seconds: dials, accepted connections and their ends,
    /// announcements, partitions, crashes, and the application's notes.
    public var history: [String] { machines.history }

    /// Adds a line to the history.
    public func note(_ text: String) { machines.note(text) }

    /// The number of parts of tasks, turns of loops and planned events that the run has had: what a debugger would step
    /// through.
    public var steps: Int { machines.time.steps }
}
