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
///     try await network.clock.sleep(for: .seconds(20))  // takes a few milliseconds
///     network.heal()
/// }
/// print(network.history)  // the same whenever the seed is the same
/// ```
///
/// Everything that decides is what runs in production, down to TLS; simulated are the clock, the sockets, discovery and
/// chance. When nothing is left to run, the clock jumps to the next moment for which something was planned. <doc:Reproducible>
/// says what has to hold for a run to be the same again.
public final class SimulatedNetwork: Sendable {
    /// What everything that is drawn follows from.
    public let seed: UInt64

    let machines: VirtualNetwork
    let discovery: SimulatedDiscovery
    let tasks = RunningTasks()
    private let hosts = Locked<[String: Host]>([:])

    /// A network without machines.
    public init(seed: UInt64) {
        self.seed = seed
        machines = VirtualNetwork(seed: seed)
        discovery = SimulatedDiscovery(machines)
    }

    deinit { machines.dismantle() }

    // MARK: time

    /// What the application sleeps by, instead of `ContinuousClock`.
    public var clock: Clock { Clock(time: machines.time) }

    /// The virtual time since the network was made.
    public var elapsed: Duration { machines.time.elapsed }

    /// The one thread of the network: what prefers it runs there.
    public var executor: any TaskExecutor { machines.time }

    /// Chance for the application, from the seed, instead of `SystemRandomNumberGenerator`.
    public var randomness: Randomness { Randomness(time: machines.time) }

    // MARK: machines

    /// The machine of that name, which is there from the first call on; another one, at another address, after it was
    /// killed. Its peer is the same for the same name and seed. Throws for a name that no peer may have.
    public func host(_ name: String) throws(InvalidPeerID) -> Host {
        if let known = hosts.withLock({ $0[name] }), known.isAlive { return known }
        let peer = try PeerID(uid: uid(for: name), displayName: name)
        let host = Host(peer: peer, machine: machines.addHost(name), discovery: discovery, tasks: tasks)
        hosts.withLock { $0[name] = host }
        return host
    }

    private func uid(for name: String) -> UID {
        // FNV-1a: the same in each process, as `Hasher` is not.
        let digest = name.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) {
            ($0 ^ UInt64($1)) &* 0x100_0000_01b3
        }
        var random = SeededRandom(seed ^ digest)
        return UID(high: random.next(), low: random.next())
    }

    // MARK: what is between them

    /// How long bytes, datagrams and announcements are under way, drawn anew for each: 1 to 5 ms unless set. Bytes of
    /// one connection stay in their order.
    public var delay: ClosedRange<Duration> {
        get { machines.delay }
        set { machines.delay = newValue }
    }

    /// The share of datagrams and announcements that is lost, 0 to 1; none unless set. Connections lose nothing: they wait.
    public var loss: Double {
        get { machines.loss }
        set { machines.loss = newValue }
    }

    /// Nothing gets from one group to the other until `heal`. Who is in neither reaches both.
    public func partition(_ one: [Host], _ other: [Host]) {
        machines.partition(one.map(\.machine), other.map(\.machine))
    }

    /// Ends all partitions. Connections that lived through them go on with what waited.
    public func heal() { machines.heal() }

    /// Ends the process on a machine: others find its connections ended. `silently`, the machine itself is gone, and others
    /// find out by hearing nothing.
    ///
    /// Its sessions, advertisers and browsers end, as if they were let go of, and its tasks are cancelled; nothing that is
    /// done with them any more gets anywhere.
    public func kill(_ host: Host, silently: Bool = false) {
        host.machine.end(silently: silently)
    }

    // MARK: what happened

    /// What happened, a line each with the virtual time in seconds: dials, accepted connections and their ends,
    /// announcements, partitions, deaths, and what the application noted.
    public var history: [String] { machines.history }

    /// Adds a line to the history.
    public func note(_ text: String) { machines.note(text) }

    /// How many parts of tasks, turns of loops and planned events the run has had: what a debugger would step through.
    public var steps: Int { machines.time.steps }
}
