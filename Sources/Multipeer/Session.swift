public import MultipeerCore
import MultipeerFraming
public import MultipeerIntroduction
public import MultipeerSecurity
public import MultipeerTransport

/// A session of one peer: it links to others with connection data that their owners swap, and carries messages and streams.
/// A `Browser` finds others nearby and invites them, an `Advertiser` takes their invitations; here is what both lead to.
///
/// ```swift
/// let session = try Session(peer: PeerID(displayName: "ann"))
/// let mine = try await session.connectionData()        // hand mine.bytes to the other person
/// try await session.connect(with: ConnectionData(theirs))
/// try await session.send(Array("hello".utf8), to: bob)
/// for await event in session.events { print(event) }
/// await session.disconnect()
/// ```
///
/// The session listens from the first `connectionData` or `connect` on. `disconnect` ends the loops over its events, and
/// it can be used again after that. Releasing it ends its links without a goodbye, its searches, and its events.
///
/// What happens at the limits, all of them in chapter 15 of the spec:
/// - 7 links, or 8 peers in the mesh, unless `configuration.peers` says otherwise: `connect` throws `ended` with the reason
///   `full`, and so does the other side's.
/// - 32 peers sought or linked: `connect` throws `ended` with the reason `busy`.
/// - 4 MiB, or 16,384 messages, accepted and not yet written to one peer: `send` waits.
/// - 256 KiB, or 1,024 messages, on their way to one peer over UDP: `send` of an unreliable one waits.
/// - 1 MiB of unreliable messages of one peer that nobody takes from `events`: what comes beyond over UDP is lost.
/// - The peer's `maxMessage`: `send` throws `tooLarge`. A peer that sends more than ours is disconnected.
/// - 4 MiB of messages that nobody takes from `events`: their sender waits, and is not disconnected.
/// - The peer's `maxChannels`, 64 unless set, of streams and files open to it: `openStream` waits.
/// - 512 KiB written to a stream and not yet on their way, with 256 KiB that its reader has not taken: `write` waits.
/// - 20 MiB of streams and files, from all peers, that nobody reads: the fullest is given up, `busy` at both ends.
/// - 32 strangers connected at once, 4 from one address: the oldest is dropped.
public final class Session: Sendable {
    /// The local peer.
    public let peer: PeerID
    /// How the session was made.
    public let configuration: SessionConfiguration
    /// Everything that changes is its: an actor on the session's own thread.
    package let driver: SessionDriver

    /// A session that does nothing yet. It makes a key of its own unless the configuration has an identity.
    ///
    /// Throws `invalidArgument` when a field of the configuration is outside its range, `identity` when the identity does
    /// not serve, and `system` when the system has no resources left.
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
        Task.following { await driver.shutDown() }
    }

    /// What happened, in order, without loss.
    ///
    /// It ends with `disconnect`, after the last `notConnected`, and when the session is released; iterating does not keep
    /// it. A session that is used again after `disconnect` tells of that to iterators that are made after it.
    ///
    /// Any number of tasks may iterate over it. Each of them gets every event from its first wait on; what happened while
    /// nobody did is for the first. Breaking off a loop and starting another loses nothing.
    ///
    /// Memory is bounded by credit: a peer whose messages are not taken is held back. With several consumers, the slowest
    /// decides; release an iterator that you do not want to wait with any more. A peer of which 64 events wait, or more than
    /// the credit of one link from links that are over, is not linked again before some were taken: it hears BUSY.
    public var events: SessionEvents { SessionEvents(driver.eventQueue) }

    /// Where a task may run that must answer fast: on the session's own thread, without a hop either way.
    ///
    /// `Task(executorPreference: session.executor) { … }`. Such a task shares the thread with the session's sockets and
    /// with those of other sessions: it must never block nor compute for long.
    public var executor: any TaskExecutor { driver.loop.taskExecutor }

    /// The certificate that this session shows; nil when its preference is none.
    public var certificate: Certificate? { driver.identity?.chain.first }

    // MARK: linking

    /// What to hand to `recipient` by a carrier that both trust; without a recipient, to whoever gets it.
    ///
    /// The same peer gets the same data until `disconnect`, or for a day; then it expires. It contains a secret. While the
    /// session leaves, the call waits, and answers for the time after that.
    ///
    /// Throws `system` when the session cannot listen or the machine has no address.
    ///
    /// With `mesh`, a link made of it joins both sides' meshes: everyone in them is introduced to everyone, up to
    /// `configuration.peers`, and the others come up in `events` by themselves. Both sides have to hand out such data,
    /// and links that are not encrypted introduce nobody unless both prefer none. Without it a link is between two.
    /// A session with the topology `star` throws `invalidArgument` for it.
    public func connectionData(
        for recipient: PeerID? = nil, mesh: Bool = false
    ) async throws(MultipeerError) -> ConnectionData {
        try await MultipeerError.translating { () async throws(SessionFault) in
            try await driver.connectionData(for: recipient?.uid, joinsMesh: mesh)
        }
    }

    /// Seeks the peer of `data` and returns once it is linked, at most `configuration.patience` later.
    ///
    /// Both sides call it, in any order, after each has made its own data. For a peer that is linked already it answers
    /// at once; data of a session that the peer made later is a search of its own, and the link stays until the new one
    /// stands. While the session leaves, the call waits for that.
    ///
    /// Throws `ended` with the typed reason when there is no link, `system` when the session cannot listen, and `cancelled`
    /// when the search was given up: by cancelling a task that waits for it, which ends it for all of them, by
    /// `cancelConnect` or by `disconnect`.
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
        try await MultipeerError.translating { () async throws(SessionFault) in
            try await driver.connect(with: data)
        }
    }

    /// Stops seeking a peer; does nothing for one that is linked.
    public func cancelConnect(_ peer: PeerID) async { await driver.cancel(peer.uid) }

    /// The linked peers.
    public var peers: [PeerID] {
        get async { await driver.linkedPeers }
    }

    /// What protects the link to a peer, and what it has done; nil without a link.
    public func facts(for peer: PeerID) async -> LinkFacts? { await driver.facts(peer.uid) }

    /// Says goodbye to everyone after what was accepted for sending, and waits for that at most `patience`; then for the
    /// connections to end, one second more at the most. A patience of zero or less says goodbye at once.
    ///
    /// From the call on nothing can be sent, and no search or invitation goes on. Afterwards the session can be used
    /// again, as a new instance: connection data made before is void. What could not be sent is counted in each peer's
    /// reason.
    ///
    /// Every iteration over `events` ends, once it has taken what happened until then.
    public func disconnect(within patience: Duration = .seconds(1)) async {
        await driver.disconnect(within: patience)
    }

    // MARK: sending

    /// Sends one reliable message; waits while the queue to that peer is full.
    ///
    /// It is delivered whole, once, in order, as long as the link lives. When the call returns, the message is accepted;
    /// `flush` tells that it arrived, and the reason of the link's end how many did not go.
    ///
    /// Throws `notConnected` when the peer is not linked, `tooLarge` when the message is longer than the peer accepts,
    /// `ended` when the link ends while waiting, and `cancelled` when the task is cancelled while waiting: in all of these
    /// nothing of the message was sent.
    public func send(_ message: [UInt8], to peer: PeerID) async throws(MultipeerError) {
        do throws(SendFault) {
            try await driver.queues.send(message, to: peer.uid)
        } catch {
            throw MultipeerError(error, to: peer)
        }
    }

    /// Sends one message as reliably as it needs.
    ///
    /// An unreliable one costs less and waits for none before it, but may be lost or arrive out of order; it never
    /// arrives twice. It goes over UDP, protected like the link. One of more than 1,150 bytes, and any while UDP does not
    /// get through, takes the link and counts as reliable there. `flush` does not know of those that went over UDP.
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

    /// Sends several messages in order, with less work for each.
    ///
    /// Throws like `send` for one. When it throws while waiting, the first of them may have been accepted; when one is
    /// too large, none is.
    public func send(contentsOf messages: [[UInt8]], to peer: PeerID) async throws(MultipeerError) {
        do throws(SendFault) {
            try await driver.queues.send(contentsOf: messages, to: peer.uid)
        } catch {
            throw MultipeerError(error, to: peer)
        }
    }

    /// Sends one message to each of several peers, one after the other.
    ///
    /// Throws before anything is sent when one of them is not linked or does not accept the message. When a link ends
    /// meanwhile, those before it have been sent theirs.
    public func send(_ message: [UInt8], to peers: [PeerID]) async throws(MultipeerError) {
        for peer in peers {
            do throws(SendFault) {
                try driver.queues.check(message.count, to: peer.uid)
            } catch {
                throw MultipeerError(error, to: peer)
            }
        }
        for peer in peers { try await send(message, to: peer) }
    }

    /// Waits until the peer's session has received everything sent to it so far. Whether its application has taken it is
    /// another matter.
    ///
    /// Throws `notConnected` when there is no link, or it ends first, and `cancelled` when the task is cancelled first.
    public func flush(to peer: PeerID) async throws(MultipeerError) {
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

    /// Opens a stream of bytes to a peer, whose events bring it; waits while the peer has as many open as it takes (64,
    /// unless it says otherwise), or has not taken what was announced to it.
    ///
    /// The name is a label of 1 to 1,024 bytes; the metadata is up to 1,024 bytes. The other side decides what they mean.
    ///
    /// Throws `notConnected` when the peer is not linked, `invalidArgument` for a name or metadata that do not fit,
    /// `ended` when the link ends while waiting, and `cancelled` when the task is cancelled while waiting.
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
