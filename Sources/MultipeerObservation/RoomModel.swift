public import Multipeer
public import Observation

/// A room of nearby peers as a model for a user interface: its properties are what a view shows, its methods are what a
/// user does, and every change is observed.
///
/// ```swift
/// let room = try RoomModel(peer: PeerID(displayName: "ann"), service: "chat")
/// room.start()  // or `.task { await room.run() }` in a view
///
/// room.invite(peer.id)  // one of `nearby`: it is one of `members` once it has accepted
/// room.accept(invitation)  // one of `invitations`
/// room.send("hello")  // to all members
/// room.send(file: photo, to: peer.id)  // its progress is in `transfers`
/// await room.stop()
/// ```
///
/// While it runs, the peer is advertised and receives invitations, browses for others, and is linked with those that
/// accepted or were accepted: by default they form one mesh. Methods never wait and never throw. What they cause shows
/// in the properties: an error in `failures`, that of a file in its `Transfer`.
///
/// Everything that a run starts is a child of one task, which `stop`, a cancellation of `run` and the release of the
/// model cancel. It withdraws invitations, cancels transfers, stops discovery and says goodbye to the members.
@Observable
@MainActor public final class RoomModel {
    /// Whether the room runs. It is true from the start until everything has ended.
    public internal(set) var isRunning = false
    /// The peers that were found and are not members, in the order in which they appeared. Discovery is
    /// unauthenticated: anyone can use any name.
    public internal(set) var nearby: [Peer] = []
    /// The peers that are linked, or being linked, in the order in which they appeared.
    public internal(set) var members: [Peer] = []
    /// The invitations that wait for an answer: `accept` or `decline` them. One that timed out or was withdrawn
    /// disappears, and one of a peer that was invited itself is accepted at once.
    public internal(set) var invitations: [Invitation] = []
    /// The messages that were received and sent, oldest first: at most `historyLimit`, and 16 MiB.
    public internal(set) var messages: [Message] = []
    /// The files on their way, and at most `historyLimit` of those that have arrived or failed, oldest first.
    public internal(set) var transfers: [Transfer] = []
    /// What went wrong, oldest first: at most `historyLimit`.
    public internal(set) var failures: [Failure] = []
    /// How many messages, ended transfers and failures are kept; default 1,000. The oldest go first.
    public var historyLimit = 1_000

    /// The session of the room, for what the model does not do: streams, values, unreliable messages, verification
    /// codes.
    ///
    /// The application may iterate over its events, too. `disconnect` ends the run.
    public nonisolated let session: Session

    @ObservationIgnored var peers = PeerList()
    @ObservationIgnored var messageBytes = 0
    @ObservationIgnored private var current: Run?
    @ObservationIgnored private var lastID = 0
    private nonisolated let advertiser: Advertiser
    private nonisolated let browser: Browser

    /// A run, from `start` until everything has ended.
    private struct Run {
        let number: Int
        let requests: AsyncStream<RoomDriver.Request>.Continuation
        let task: Task<Void, Never>
    }

    /// Creates a room that does not run yet.
    ///
    /// When discovery is limited to loopback and the session's `listenAddresses` are empty, the session is limited to
    /// loopback, too.
    ///
    /// - Parameters:
    ///   - peer: The local peer.
    ///   - service: The service type under which the peer is advertised and others are found.
    ///   - info: What others can read of the peer before they are linked.
    ///   - session: The configuration of the session.
    ///   - discovery: The configuration of the advertiser and the browser.
    /// - Throws: `invalidArgument` when a string breaks the rules of `ServiceType` or `DiscoveryInfo`, and what
    ///   `Session.init` throws.
    public init(
        peer: PeerID, service: String, info: [String: String] = [:],
        session: Session.Configuration = Session.Configuration(),
        discovery: DiscoveryConfiguration = .standard
    ) throws(MultipeerError) {
        var configuration = session
        if configuration.listenAddresses.isEmpty { configuration.listenAddresses = discovery.listenAddresses }
        advertiser = try Advertiser(
            peer: peer, service: service, info: info, identity: configuration.identity,
            configuration: discovery)
        browser = try Browser(peer: peer, service: service, configuration: discovery)
        self.session = try Session(peer: peer, configuration: configuration)
    }

    deinit { current?.task.cancel() }

    /// The local peer.
    public nonisolated var peer: PeerID { session.peer }

    /// Starts the room. Does nothing while it runs; while it is stopping, it starts again afterwards.
    ///
    /// When discovery cannot start, the reason is in `failures`, and the room does not run.
    public func start() { _ = begin() }

    /// Stops the room, and returns when everything has ended.
    public nonisolated func stop() async {
        guard let task = await MainActor.following({ self.current?.task }) else { return }
        task.cancel()
        await task.value
    }

    /// Starts the room, unless it runs, and returns when it has ended: cancelling the task stops it, as `stop` does.
    public nonisolated func run() async {
        let task = await MainActor.following { self.begin() }
        await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }
}

// MARK: running

extension RoomModel {
    private func begin() -> Task<Void, Never> {
        if let current, !current.task.isCancelled { return current.task }
        let (earlier, number) = (current?.task, nextID())
        let (requests, continuation) = AsyncStream<RoomDriver.Request>.makeStream()
        let driver = RoomDriver(number, of: self, advertiser, browser, requests)
        let task = Task.following {
            await earlier?.value
            await driver.run()
        }
        current = Run(number: number, requests: continuation, task: task)
        isRunning = true
        return task
    }

    /// Stops the run with that number.
    func cancel(_ number: Int) { if current?.number == number { current?.task.cancel() } }

    /// Shows that the run with that number has ended.
    func ended(_ number: Int) {
        (peers, invitations) = (PeerList(), [])
        showPeers()
        for transfer in transfers { transfer.fail(.stopped) }
        guard current?.number == number else { return }
        current = nil
        isRunning = false
    }

    /// Whether the room runs and is not being stopped.
    var isOpen: Bool { current?.task.isCancelled == false }

    /// Carries out a request as a child of the run. Returns false when the room does not run.
    func perform(_ request: @escaping @Sendable (RoomDriver) async -> Void) -> Bool {
        guard isOpen else { return false }
        current?.requests.yield(RoomDriver.Request(perform: request))
        return true
    }

    func nextID() -> Int {
        lastID += 1
        return lastID
    }
}

extension MultipeerError {
    static var stopped: MultipeerError { MultipeerError(.cancelled, "the room was stopped") }
    static var notRunning: MultipeerError { MultipeerError(.cancelled, "the room does not run") }
}
