public import Distributed
public import Multipeer
public import MultipeerCore
import MultipeerTransport

/// Distributed actors over a session: every linked peer can call the actors whose types the others have registered.
///
/// ```swift
/// distributed actor Worker {
///     typealias ActorSystem = PeerActorSystem
///     distributed func count(_ tile: [UInt8]) -> Int { tile.count { $0 > 200 } }
/// }
///
/// let system = try await PeerActorSystem(session)
/// try system.register(Worker.self)                   // what peers may call
/// let worker = Worker(actorSystem: system)           // keep a reference: the system does not
/// try system.receptionist.checkIn(worker, as: "workers")
///
/// for await worker in system.receptionist.checkIns(of: Worker.self, as: "workers") {
///     print(try await worker.count(tile))            // local, or at another peer
/// }
/// ```
///
/// The session still belongs to the application: the application makes the links, and takes the events from `session.events`,
/// except for the messages, streams and files of the system, which it never sees. A call fails as soon as its link ends.
///
/// What belongs to the system is known by how it begins: reliable messages by the four bytes `00 41 43 54`, streams and files by
/// `org.swift-multipeer.actors/` in their names. The session sends no such message for the application: its calls throw
/// `invalidArgument`. One that comes from a peer is the system's, also when an application without actors sent it; and an
/// application without actors receives those of its peers' systems like all other messages.
///
/// Nothing of a call is executed unless the type of the actor was registered and the method is known to be one of that type. Data
/// from peers is decoded into the types of the arguments, and into nothing else.
public final class PeerActorSystem: DistributedActorSystem, Sendable {
    /// The address of an actor.
    public typealias ActorID = MultipeerActors.ActorID
    /// Collects a call.
    public typealias InvocationEncoder = CallEncoder
    /// Decodes a call.
    public typealias InvocationDecoder = CallDecoder
    /// Sends the answer of a call.
    public typealias ResultHandler = CallResultHandler
    /// The requirement for arguments and results.
    public typealias SerializationRequirement = any Codable

    /// The settings of a system.
    public struct Configuration: Sendable {
        /// How much the system holds at a time.
        public var limits = ActorLimits()
        /// The format in which this side encodes arguments; results use the format of their call.
        public var format = Format.binary
        /// The default timeout of a call, which `withTimeout` overrides; default 30 seconds, nil for none.
        public var timeout: Duration? = .seconds(30)
        /// The executor on which calls of peers begin, and actors without an executor of their own run them; nil for the usual
        /// threads.
        ///
        /// `session.executor` saves two changes of threads for each call, when no actor ever blocks or computes for long:
        /// it is the thread of the session's sockets.
        public var executor: (any TaskExecutor)?
        /// Tests that show what happens otherwise turn it off.
        package var checksTargets = true
        /// How long streams and files wait for their calls, and calls for their streams and files.
        package var timeLimit = Duration.seconds(30)

        /// Creates a configuration with the standard limits and the binary format.
        public init() {}
    }

    /// The encoding of values.
    public enum Format: Sendable {
        /// CBOR, RFC 8949.
        case binary
        /// What Foundation's `JSONEncoder` writes.
        case json
    }

    /// The session that carries all messages.
    public let session: Session
    /// The configuration that the system was created with.
    public let configuration: Configuration
    /// The local peer.
    public var peer: PeerID { session.peer }
    /// Finds actors, here and at the peers.
    public var receptionist: Receptionist { Receptionist(system: self) }

    let exchange: Locked<CallExchange>
    let localActors = LocalActors()
    let registry = Locked(TypeRegistry())
    let checkInRegistry = CheckInRegistry()
    let transfers: AttachmentTransfers
    let timer: DeadlineTimer
    let incarnation: UInt64

    /// Creates a system on that session, which may already have links. A session has at most one system.
    ///
    /// Throws `invalidArgument` when there is one, or a limit is outside its range.
    public init(_ session: Session, configuration: Configuration = Configuration())
        async throws(ActorCallError)
    {
        if let validationError = configuration.limits.validationError {
            throw ActorCallError(.invalidArgument, validationError)
        }
        self.session = session
        self.configuration = configuration
        var randomness = SystemRandomness()
        incarnation = max(1, randomness.next())
        var limits = configuration.limits
        // More than the session accepts is not announced.
        limits.envelope = min(limits.envelope, session.configuration.maximumMessageSize)
        exchange = Locked(Exchange(incarnation: incarnation, limits: limits))
        transfers = AttachmentTransfers(session, configuration.limits, timeLimit: configuration.timeLimit)
        timer = DeadlineTimer(session.driver.loop)
        timer.belong(to: self)
        meet(peer)
        guard await session.driver.admit(self) else {
            throw ActorCallError(.invalidArgument, "the session has an actor system already")
        }
    }

    /// Notifies peers whose calls will no longer be answered, as long as the session lives.
    deinit {
        let bye = Envelope.bye(incarnation).bytes
        for other in exchange.withLock({ $0.peers }) where other != session.peer {
            // Without a link no peer would receive it.
            try? session.driver.queues.post(
                bye, to: other.uid, limit: PeerActorSystem.noticeBacklog, fromHandler: true)
        }
    }

    // MARK: DistributedActorSystem

    /// Returns the actor with that address, if it is local; nil for one at a peer.
    ///
    /// Throws `noSuchActor` when the address is local and no such actor exists, or it is of another type.
    public func resolve<Act: DistributedActor>(
        id: ActorID, as actorType: Act.Type
    ) throws -> Act? where Act.ID == ActorID {
        guard id.peer == peer else { return nil }
        guard let actor = localActors.find(id.place) else {
            throw ActorCallError(.noSuchActor, "no local actor \(id)")
        }
        if let actor = actor as? Act { return actor }
        // Through a protocol's stub it is called like one at a peer.
        guard let name = _mangledTypeName(actorType), allowList(of: actor)?.isKnown(as: name) == true else {
            throw ActorCallError(.noSuchActor, "the actor \(id) is not a \(actorType)")
        }
        return nil
    }

    /// Returns an address for an actor that is being created.
    public func assignID<Act: DistributedActor>(_ actorType: Act.Type) -> ActorID where Act.ID == ActorID {
        ActorID(
            peer: peer,
            place: localActors.reserve(PeerActorSystem.nameToGive?.take(by: incarnation), incarnation))
    }

    /// Makes the actor callable from here on.
    public func actorReady<Act: DistributedActor>(_ actor: Act) where Act.ID == ActorID {
        localActors.insert(actor, at: actor.id.place)
    }

    /// The actor is gone: removes its address, and its check-ins.
    public func resignID(_ id: ActorID) {
        // Before another actor can get the name, and check in with it.
        for wakeups in change({ $0.checkOut(id.place).map { checkInRegistry.left($0, peer) } }) {
            wakeups.wake()
        }
        localActors.remove(id.place)
    }

    /// Returns an encoder for a call.
    public func makeInvocationEncoder() -> CallEncoder { CallEncoder(configuration.format) }

    // MARK: names

    @TaskLocal static var nameToGive: PendingActorName?

    /// Creates an actor that peers can address by its name: `try Worker.resolve(id: ActorID("worker", at: peer), using: …)`.
    ///
    /// Throws `invalidArgument` when the name does not have 1 to 255 bytes or an actor has it already, and the errors of `make`.
    /// The name goes to the first actor that `make` creates.
    public func named<Act: DistributedActor>(
        _ name: String, _ make: () throws -> Act
    ) throws -> Act where Act.ID == ActorID {
        guard ActorID.isName(name), localActors.claim(name) else {
            throw ActorCallError(.invalidArgument, "the name '\(name)' is taken, or not 1 to 255 bytes")
        }
        let ticket = PendingActorName(name, incarnation)
        defer { if let name = ticket.take(by: incarnation) { localActors.giveBack(name) } }
        return try PeerActorSystem.$nameToGive.withValue(ticket) { try make() }
    }
}
