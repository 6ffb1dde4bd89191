public import MultipeerCore
import MultipeerFraming
public import MultipeerHandshake
public import MultipeerSecurity

/// A session of one peer: it links to other peers with connection data that their users exchange, and carries messages and
/// streams. A `Browser` finds and invites nearby peers, an `Advertiser` receives their invitations; both lead to links in a
/// session.
///
/// ```swift
/// let session = try Session(peer: PeerID(displayName: "ann"))
/// let mine = try await session.connectionData()        // send mine.bytes to the other person
/// try await session.connect(with: ConnectionData(theirs))
/// try await session.send(Array("hello".utf8), to: bob)
/// for await event in session.events { print(event) }
/// await session.disconnect()
/// ```
///
/// The session listens from the first `connectionData` or `connect` on. `disconnect` ends the loops over its events, and the
/// session can be used again after that. Releasing it ends its links without a goodbye, its connection attempts, and its events.
///
/// What happens at the limits, all of them in chapter 15 of the spec:
/// - 7 links, or 8 peers in the mesh, by default (`configuration.maximumPeers`): `connect` throws `ended` with the reason `full` on both
///   sides.
/// - 32 peers connecting or linked: `connect` throws `ended` with the reason `busy`.
/// - 4 MiB, or 16,384 messages, accepted and not yet written to one peer: `send` waits.
/// - 256 KiB, or 1,024 messages, on their way to one peer over UDP: `send` of an unreliable one waits.
/// - 1 MiB of unreliable messages of one peer that no task takes from `events`: further ones over UDP are lost.
/// - The peer's `maximumMessageSize`: `send` throws `tooLarge`. A peer that exceeds ours is disconnected.
/// - 4 MiB of messages that no task takes from `events`: their sender waits, and is not disconnected.
/// - The peer's `maximumStreams`, default 64, of streams and files open to it: `openStream` waits.
/// - 512 KiB written to a stream and not yet sent, with 256 KiB that its reader has not taken: `write` waits.
/// - 20 MiB of unread streams and files, from all peers: the one with the most is given up, `busy` at both ends.
/// - 96 unauthenticated connections at once, 32 more from the addresses of expected peers, and 4 from one address: one that is at
///   least 200 ms old is dropped, drawn at random, or else the new one.
public final class Session: Sendable {
    /// The local peer.
    public let peer: PeerID
    /// The configuration that the session was created with.
    public let configuration: Session.Configuration
    /// Holds all mutable state: an actor on the session's own thread.
    package let driver: SessionDriver

    /// Creates a session that does nothing yet. It makes its own key unless the configuration has an identity.
    ///
    /// Throws `invalidArgument` when a field of the configuration is outside its range, `identity` when the identity is not
    /// usable, or the peer's id is the hash of a key (`UID.isKeyed`) and the configuration has not the identity with that key, or no
    /// encryption, and `system` when the system has no resources left.
    public init(
        peer: PeerID, configuration: Session.Configuration = Session.Configuration()
    ) throws(MultipeerError) {
        self.peer = peer
        self.configuration = configuration
        driver = try MultipeerError.translating { () throws(SessionFault) in
            try SessionDriver(peer, configuration)
        }
    }

    deinit {
        let driver = driver
        Task.following(on: driver.loop.taskExecutor) { await driver.shutDown() }
    }

    /// All events, in order, without loss.
    ///
    /// The sequence ends with `disconnect`, after the last `notConnected`, and when the session is released; iterating does not
    /// keep the session alive. When a session is used again after `disconnect`, its events go to iterators created after that.
    ///
    /// Any number of tasks may iterate over it. Each of them receives every event from its first wait on; events from a time when
    /// no task was iterating go to the first one that does. Ending one loop and starting another loses nothing.
    ///
    /// Memory is bounded by flow control: a peer whose messages are not taken is held back. With several consumers, the slowest
    /// one decides; release an iterator that you no longer use. A peer with 64 events not yet taken, or with more than
    /// the credit of one link from links that have ended, is not linked again before some were taken: it receives BUSY.
    ///
    /// A session with a `PeerActorSystem` needs no task that takes events. While there is none, a link that has begun and ended
    /// leaves no event of its own: the first task receives the states of the links that there are then.
    public var events: Session.Events { Session.Events(driver.eventQueue) }

    /// An executor for tasks that must respond fast: it runs them on the session's own thread, without a hop either way.
    ///
    /// `Task(executorPreference: session.executor) { … }`. Such a task shares the thread with the session's sockets and with
    /// those of other sessions: it must never block or compute for long.
    public var executor: any TaskExecutor { driver.loop.taskExecutor }

    /// The certificate that this session presents; nil when its preference is none.
    public var certificate: Certificate? { driver.identity?.chain.first }

    // MARK: linking

    /// Returns the data to give to `recipient` over a channel that both trust; without a recipient, any peer may use it.
    ///
    /// The same recipient gets the same data until `disconnect`, or for a day; then it expires. It contains a secret. While the
    /// session is disconnecting, the call waits, and returns data for the time after that.
    ///
    /// Throws `system` when the session cannot listen or the machine has no address.
    ///
    /// With `mesh`, a link made with it joins the meshes of both sides: all their members are introduced to each other, up to
    /// `configuration.maximumPeers`, and the others appear in `events` by themselves. Both sides must exchange such data, and links that
    /// are not encrypted introduce no members unless both sides' preference is none. Without `mesh`, a link is between two peers.
    /// A session with the topology `star` throws `invalidArgument` for it.
    public func connectionData(
        for recipient: PeerID? = nil, mesh: Bool = false
    ) async throws(MultipeerError) -> ConnectionData {
        try await MultipeerError.translating { () async throws(SessionFault) in
            try await driver.connectionData(for: recipient?.uid, joinsMesh: mesh)
        }
    }

    /// Connects to the peer of `data` and returns once it is linked, at most `configuration.connectTimeout` later.
    ///
    /// Both sides call it, in any order, after each has made its own data. For a peer that is already linked it returns at once;
    /// data of a session that the peer made later starts a new attempt, and the old link stays until the new one is made. While
    /// the session is disconnecting, the call waits for that.
    ///
    /// Throws `ended` with the typed reason when there is no link, `system` when the session cannot listen, and `cancelled` when
    /// the attempt was given up: by cancelling a task that waits for it, which ends it for all of them, by `cancelConnecting` or by
    /// `disconnect`.
    public func connect(with data: ConnectionData) async throws(MultipeerError) {
        try await MultipeerError.translating { () async throws(SessionFault) in
            try await driver.connect(with: data)
        }
    }

    /// Connects like `connect(with:)`, and rejects data of any peer other than `peer`.
    public func connect(_ peer: PeerID, with data: ConnectionData) async throws(MultipeerError) {
        guard peer == data.peer else {
            throw MultipeerError(
                .invalidConnectionData, "this connection data is of \(data.peer), not of \(peer)")
        }
        try await MultipeerError.translating { () async throws(SessionFault) in
            try await driver.connect(with: data)
        }
    }

    /// Stops connecting to a peer; does nothing for one that is linked.
    public func cancelConnecting(to peer: PeerID) async { await driver.cancel(peer.uid) }

    /// The linked peers.
    public var connectedPeers: [PeerID] {
        get async { await driver.linkedPeers }
    }

    /// Returns the protection and the statistics of the link to a peer; nil without a link.
    public func connectionInfo(for peer: PeerID) async -> ConnectionInfo? { await driver.facts(peer.uid) }

    /// Ends all links gracefully: waits up to the given time until all accepted data has been sent, then up to one second until
    /// the connections have ended. With a time of zero or less, the goodbyes are sent at once.
    ///
    /// From the call on nothing can be sent, and every connection attempt and invitation ends. Afterwards the session can be used
    /// again, as a new instance: connection data made before is void. Each peer's disconnect reason counts what could not be
    /// sent.
    ///
    /// Every iteration over `events` ends, once it has taken all events up to then.
    public func disconnect(within timeLimit: Duration = .seconds(1)) async {
        await driver.disconnect(within: timeLimit)
    }

    // MARK: sending

    /// Sends one reliable message; waits while the send queue of that peer is full.
    ///
    /// The message is delivered whole, once, in order, as long as the link lives. When the call returns, the message is accepted;
    /// `waitUntilReceived` confirms that it arrived, and the disconnect reason says how many were not sent.
    ///
    /// Throws `notConnected` when the peer is not linked, `tooLarge` when the message is longer than the peer accepts, `ended`
    /// when the link ends while waiting, and `cancelled` when the task is cancelled while waiting: in all of these cases nothing
    /// of the message was sent. With a `PeerActorSystem` on this session, throws `invalidArgument` for a message that begins with the
    /// four bytes of the system's own messages, `00 41 43 54`: the peer's application would not receive it.
    @inlinable
    public func send(_ message: [UInt8], to peer: PeerID) async throws(MultipeerError) {
        // Inlined: the usual case, in which there is room, needs no asynchronous call.
        if try accept(message, to: peer) { return }
        try await sendWaiting(message, to: peer)
    }

    /// Queues one message if there is room for it now.
    @usableFromInline
    func accept(_ message: [UInt8], to peer: PeerID) throws(MultipeerError) -> Bool {
        do throws(SendFault) {
            return try driver.queues.offer(message, to: peer.uid)
        } catch {
            throw MultipeerError(error, to: peer)
        }
    }

    @usableFromInline
    func sendWaiting(_ message: [UInt8], to peer: PeerID) async throws(MultipeerError) {
        do throws(SendFault) {
            try await driver.queues.send(message, to: peer.uid)
        } catch {
            throw MultipeerError(error, to: peer)
        }
    }

    /// Sends one message with the given delivery.
    ///
    /// An unreliable message costs less and does not wait for earlier ones, but may be lost or arrive out of order; it never
    /// arrives twice. It goes over UDP, protected like the link. One of more than 1,150 bytes, and any while UDP does not get
    /// through, is sent on the link and counts as reliable there. `waitUntilReceived` ignores those that went over UDP.
    ///
    /// Waits while the queue is full; throws like `send` for a reliable one.
    public func send(
        _ message: [UInt8], to peer: PeerID, delivery: Delivery
    ) async throws(MultipeerError) {
        do throws(SendFault) {
            try await driver.queues.send(message, to: peer.uid, delivery: delivery)
        } catch {
            throw MultipeerError(error, to: peer)
        }
    }

    /// Sends several messages in order, at a lower cost for each.
    ///
    /// Throws like `send` for one. When it throws while waiting, the first of them may have been accepted; when one is too large,
    /// none is.
    public func send(contentsOf messages: [[UInt8]], to peer: PeerID) async throws(MultipeerError) {
        do throws(SendFault) {
            try await driver.queues.send(contentsOf: messages, to: peer.uid)
        } catch {
            throw MultipeerError(error, to: peer)
        }
    }

    /// Sends one message to each of several peers. It waits for the slowest of them; none of them waits for another.
    ///
    /// Throws before anything is sent when one of the peers is not linked or does not accept the message. When a link ends in the
    /// meantime, the others have been sent theirs.
    public func send(_ message: [UInt8], to peers: [PeerID]) async throws(MultipeerError) {
        for peer in peers {
            do throws(SendFault) {
                try driver.queues.check(message, to: peer.uid)
            } catch {
                throw MultipeerError(error, to: peer)
            }
        }
        for outcome in await sendEach(message, to: peers) { try outcome.get() }
    }

    /// Sends one message to each of these peers, and returns what became of each. Where there is room it is accepted at once, in
    /// order; a peer whose queue is full delays no other.
    package func sendEach(
        _ message: [UInt8], to peers: [PeerID], delivery: Delivery = .reliable
    ) async -> [Result<Void, MultipeerError>] {
        typealias Outcome = Result<Void, MultipeerError>
        var outcomes = peers.map { peer -> Outcome? in
            guard delivery == .reliable else { return nil }
            do throws(MultipeerError) { return try accept(message, to: peer) ? .success(()) : nil } catch {
                return .failure(error)
            }
        }
        let waiting = outcomes.indices.filter { outcomes[$0] == nil }
        if waiting.isEmpty { return outcomes.compactMap { $0 } }
        await withTaskGroup(of: (Int, Outcome).self) { group in
            for index in waiting {
                group.addTask {
                    do throws(MultipeerError) {
                        try await self.send(message, to: peers[index], delivery: delivery)
                        return (index, .success(()))
                    } catch {
                        return (index, .failure(error))
                    }
                }
            }
            for await (index, outcome) in group { outcomes[index] = outcome }
        }
        return outcomes.compactMap { $0 }
    }

    /// Waits until the peer's session has received everything sent to it so far, whether or not its application has taken it.
    ///
    /// Throws `notConnected` when there is no link, or it ends first, and `cancelled` when the task is cancelled first.
    public func waitUntilReceived(by peer: PeerID) async throws(MultipeerError) {
        let outcome = Promise<Bool?>()
        Task.following { [driver] in outcome.send(await driver.flush(peer.uid)) }
        switch await outcome.value(onCancel: { outcome.send(nil) }) {
        case true?: return
        case false?:
            throw MultipeerError(.notConnected, "the link to \(peer) ended before everything had arrived")
        case nil: throw MultipeerError(.cancelled, "waiting for \(peer) to receive everything was cancelled")
        }
    }

    // MARK: streams

    /// Opens a byte stream to a peer, which receives it as an event; waits while the peer has as many open as it accepts (default
    /// 64), or has not taken what was announced to it.
    ///
    /// The name is a label of 1 to 1,024 bytes; the metadata is up to 1,024 bytes. The other side decides what they mean.
    ///
    /// Throws `notConnected` when the peer is not linked, `invalidArgument` for a name or metadata of another length, `ended`
    /// when the link ends while waiting, and `cancelled` when the task is cancelled while waiting.
    public func openStream(
        to peer: PeerID, name: String, metadata: [UInt8]? = nil
    ) async throws(MultipeerError) -> OutgoingStream {
        let opening = ChannelOpening(kind: .stream, name: name, metadata: metadata)
        do throws(ChannelFault) {
            return OutgoingStream(try await driver.open(opening, to: peer.uid))
        } catch {
            throw MultipeerError(error, in: "the stream to \(peer)")
        }
    }
}
