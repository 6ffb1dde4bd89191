public import Distributed
public import Multipeer
public import MultipeerCore
import MultipeerTransport

/// Distributed actors over a session: whoever is linked can call the actors that the others have registered.
///
/// ```swift
/// distributed actor Worker {
///     typealias ActorSystem = PeerActorSystem
///     distributed func count(_ tile: [UInt8]) -> Int { tile.count { $0 > 200 } }
/// }
///
/// let system = try await PeerActorSystem(session)
/// try system.register(Worker.self)                   // what peers may call
/// let worker = Worker(actorSystem: system)           // keep it: the system does not
/// try system.receptionist.checkIn(worker, as: "workers")
///
/// for await worker in system.receptionist.checkIns(of: Worker.self, as: "workers") {
///     print(try await worker.count(tile))            // here, or at another peer
/// }
/// ```
///
/// The session stays the application's: it links, and its events are in `session.events`, except for the messages,
/// streams and files of the system, which the application never sees. A call fails as soon as its link ends.
///
/// Nothing of a call is executed before the type of the actor was registered, and the method is surely one of that type.
/// What comes from peers is decoded into the types of the arguments, and into nothing else.
public final class PeerActorSystem: DistributedActorSystem, Sendable {
    /// An address.
    public typealias ActorID = MultipeerActors.ActorID
    /// Collects a call.
    public typealias InvocationEncoder = CallEncoder
    /// Hands out a call.
    public typealias InvocationDecoder = CallDecoder
    /// Sends the answer of a call.
    public typealias ResultHandler = CallResultHandler
    /// What arguments and results have to be.
    public typealias SerializationRequirement = any Codable

    /// How a system does what it does.
    public struct Configuration: Sendable {
        /// How much it keeps in hand.
        public var limits = ActorLimits()
        /// How this side writes arguments; whoever is called answers in kind.
        public var format = Format.binary
        /// How long a call may take, unless `withTimeout` says otherwise; 30 seconds unless set, nil for ever.
        public var timeout: Duration? = .seconds(30)
        /// Where calls of peers begin, and actors without an executor of their own run them; nil for the usual threads.
        ///
        /// `session.executor` saves two changes of threads for each call, when no actor ever blocks or computes for long:
        /// it is the thread of the session's sockets.
        public var executor: (any TaskExecutor)?
        /// A test that shows what happens otherwise turns it off.
        package var checksTargets = true
        /// How long streams and files wait for their calls, and calls for their streams and files.
        package var patience = Duration.seconds(30)

        /// A system with the standard limits and the binary format.
        public init() {}
    }

    /// How values are written.
    public enum Format: Sendable {
        /// CBOR, RFC 8949.
        case binary
        /// What Foundation's `JSONEncoder` writes.
        case json
    }

    /// The session that carries everything.
    public let session: Session
    /// How the system was made.
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

    /// A system on that session, which can be linked already. A session has one at the most.
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
        // More than the session takes is not announced.
        limits.envelope = min(limits.envelope, session.configuration.maxMessage)
        exchange = Locked(Exchange(incarnation: incarnation, limits: limits))
        transfers = AttachmentTransfers(session, configuration.limits, patience: configuration.patience)
        timer = DeadlineTimer(session.driver.loop)
        timer.belong(to: self)
        meet(peer)
        guard await session.driver.admit(self) else {
            throw ActorCallError(.invalidArgument, "the session has an actor system already")
        }
    }

    /// Peers whose calls nobody answers any more hear so, as long as the session lives.
    deinit {
        let bye = Envelope.bye(incarnation).bytes
        for other in exchange.withLock({ $0.peers }) where other != session.peer {
            // Without a link there is nobody to hear it.
            try? session.driver.queues.post(bye, to: other.uid, limit: PeerActorSystem.noticeBacklog)
        }
    }

    // MARK: DistributedActorSystem

    /// The actor with that address, if it lives here; nil for one at a peer.
    ///
    /// Throws `noSuchActor` when it should be here and is not, or is of another type.
    public func resolve<Act: DistributedActor>(
        id: ActorID, as actorType: Act.Type
    ) throws -> Act? where Act.ID == ActorID {
        guard id.peer == peer else { return nil }
        guard let actor = localActors.find(id.place) else {
            throw ActorCallError(.noSuchActor, "there is no actor \(id) here")
        }
        if let actor = actor as? Act { return actor }
        // Through a protocol's stub it is called like one at a peer.
        guard let name = _mangledTypeName(actorType), allowList(of: actor)?.isKnown(as: name) == true else {
            throw ActorCallError(.noSuchActor, "the actor \(id) is no \(actorType)")
        }
        return nil
    }

    /// An address for an actor that is being made.
    public func assignID<Act: DistributedActor>(_ actorType: Act.Type) -> ActorID where Act.ID == ActorID {
        ActorID(
            peer: peer,
            place: localActors.reserve(PeerActorSystem.nameToGive?.take(by: incarnation), incarnation))
    }

    /// The actor can be called from here on.
    public func actorReady<Act: DistributedActor>(_ actor: Act) where Act.ID == ActorID {
        localActors.insert(actor, at: actor.id.place)
    }

    /// The actor is gone: so is its address, and what it had checked in.
    public func resignID(_ id: ActorID) {
        // Before somebody else can have the name, and check in with it.
        for wakeups in change({ $0.checkOut(id.place).map { checkInRegistry.left($0, peer) } }) {
            wakeups.wake()
        }
        localActors.remove(id.place)
    }

    /// What a call is collected in.
    public func makeInvocationEncoder() -> CallEncoder { CallEncoder(configuration.format) }

    // MARK: names

    @TaskLocal static var nameToGive: PendingActorName?

    /// Makes an actor that others can address by its name: `try Worker.resolve(id: ActorID("worker", at: peer), using: …)`.
    ///
    /// Throws `invalidArgument` when the name has not 1 to 255 bytes or an actor has it already, and what `make` throws. The
    /// name goes to the first actor that `make` makes.
    public func named<Act: DistributedActor>(
        _ name: String, _ make: () throws -> Act
    ) throws -> Act where Act.ID == ActorID {
        guard ActorID.isName(name), localActors.claim(name) else {
            throw ActorCallError(.invalidArgument, "the name '\(name)' is taken, or has not 1 to 255 bytes")
        }
        let ticket = PendingActorName(name, incarnation)
        defer { if let name = ticket.take(by: incarnation) { localActors.giveBack(name) } }
        return try PeerActorSystem.$nameToGive.withValue(ticket) { try make() }
    }
}
