import MultipeerFraming
public import MultipeerIntroduction
public import MultipeerSecurity
public import MultipeerTransport

/// A session of one peer: it links to others with connection data that their owners swap, and carries messages.
///
/// ```swift
/// let session = try Session(peer: PeerID(displayName: "ann"))
/// let mine = try await session.connectionData()        // hand mine.bytes to the other person
/// try await session.connect(with: ConnectionData(theirs))
/// try await session.send(Array("hello".utf8), to: bob)
/// for await event in session.events { … }
/// await session.disconnect()
/// ```
///
/// The session listens from the first `connectionData` on. It is reusable after `disconnect`; letting go of it ends
/// its links without a goodbye.
public actor Session {
    /// The local peer.
    public nonisolated let peer: PeerID
    /// How the session was made.
    public nonisolated let configuration: SessionConfiguration
    private nonisolated let driver: SessionDriver

    /// The session lives on the thread of its sockets.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe driver.unownedExecutor }

    /// Throws when the identity does not serve or the system has no resources left.
    public init(
        peer: PeerID, configuration: SessionConfiguration = SessionConfiguration()
    ) throws(MultipeerError) {
        self.peer = peer
        self.configuration = configuration
        driver = try MultipeerError.translating { () throws(SessionFault) in
            try SessionDriver(peer, configuration)
        }
    }

    deinit {
        let driver = driver
        Task { await driver.shutDown() }
    }

    /// What happened, in order, without loss. One consumer: of two tasks that iterate at once, the second is an error.
    ///
    /// Memory is bounded by credit: a peer whose messages are not taken is held back.
    public nonisolated var events: SessionEvents { SessionEvents(driver.inbox) }

    /// Where a task may run that must answer fast: on the session's own thread, without a hop either way.
    ///
    /// `Task(executorPreference: session.executor) { … }`. Such a task shares the thread with the session's sockets and
    /// with those of other sessions: it must never block nor compute for long.
    public nonisolated var executor: any TaskExecutor { driver.loop.taskExecutor }

    /// The certificate that this session shows; nil when its preference is none.
    public nonisolated var certificate: Certificate? { driver.identity?.chain.first }

    // MARK: linking

    /// What to hand to `recipient` by a carrier that both trust; without a recipient, to whoever gets it.
    ///
    /// The same peer gets the same data for the life of the session. It contains a secret.
    public func connectionData(for recipient: PeerID? = nil) async throws(MultipeerError) -> ConnectionData {
        try await MultipeerError.translating { () async throws(SessionFault) in
            try await driver.connectionData(for: recipient?.uid)
        }
    }

    /// Seeks the peer of `data` and answers once it is linked, at most `configuration.patience` later.
    ///
    /// Both sides call it, in any order. Throws the typed reason when there is no link; cancelling the task cancels the
    /// search, like `cancelConnect`.
    public func connect(with data: ConnectionData) async throws(MultipeerError) {
        try await MultipeerError.translating { () async throws(SessionFault) in
            try await driver.connect(with: data)
        }
    }

    /// The same, and refuses data that is not of `peer`.
    public func connect(_ peer: PeerID, with data: ConnectionData) async throws(MultipeerError) {
        guard peer == data.peer else {
            throw MultipeerError(
                .invalidConnectionData, "this connection data is of \(data.peer), not of \(peer)")
        }
        try await connect(with: data)
    }

    /// Stops seeking a peer; does nothing for one that is linked.
    public func cancelConnect(_ peer: PeerID) async { await driver.cancel(peer.uid) }

    /// The linked peers.
    public var peers: [PeerID] {
        get async { await driver.linkedPeers }
    }

    /// What protects the link to a peer, and what it has done; nil without a link.
    public func facts(for peer: PeerID) async -> LinkFacts? { await driver.facts(peer.uid) }

    /// Says goodbye to everyone behind what was sent, and waits for that at most `patience`.
    ///
    /// Afterwards the session can be used again, as a new instance: connection data made before is void.
    public func disconnect(within patience: Duration = .seconds(1)) async {
        await driver.disconnect(within: patience)
    }

    // MARK: sending

    /// Sends one reliable message; waits while the queue to that peer is full.
    ///
    /// It is delivered whole, once, in order, as long as the link lives. Throws when the peer is not linked, when the
    /// message is longer than the peer accepts, or when the link ends while waiting: then nothing of it was sent.
    public nonisolated func send(_ message: [UInt8], to peer: PeerID) async throws(MultipeerError) {
        do throws(SendFault) {
            try await driver.send(message, to: peer.uid)
        } catch {
            throw MultipeerError(error, to: peer)
        }
    }

    /// Sends several messages in order, with less work for each.
    public nonisolated func send(contentsOf messages: [[UInt8]], to peer: PeerID) async throws(MultipeerError)
    {
        do throws(SendFault) {
            try await driver.send(contentsOf: messages, to: peer.uid)
        } catch {
            throw MultipeerError(error, to: peer)
        }
    }

    /// Sends one message to each of several peers; throws before anything is sent when one of them is not linked.
    public nonisolated func send(_ message: [UInt8], to peers: [PeerID]) async throws(MultipeerError) {
        for peer in peers {
            do throws(SendFault) {
                try driver.check(message.count, to: peer.uid)
            } catch {
                throw MultipeerError(error, to: peer)
            }
        }
        for peer in peers { try await send(message, to: peer) }
    }

    /// Waits until the peer's side has received everything sent to it so far.
    public func flush(to peer: PeerID) async throws(MultipeerError) {
        guard await driver.flush(peer.uid) else {
            throw MultipeerError(.notConnected, "the link to \(peer) ended before everything had arrived")
        }
    }
}
