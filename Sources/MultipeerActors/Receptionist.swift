public import Distributed
import Multipeer
import MultipeerTransport

/// Finds actors: they check in under a key, and every peer that is linked with their own finds them.
///
/// A key and a type belong together: under one key, actors of each type are found separately. An actor is no longer found once it
/// was released, and all actors of a peer once its link has ended.
public struct Receptionist: Sendable {
    let system: PeerActorSystem

    /// Checks the actor in under that key, 1 to 255 bytes: every peer that is linked, now or later, can find it. Register its
    /// type first, or peers find it and cannot call it. Checking in again changes nothing. This side finds it at once; peers are
    /// notified before they receive calls that are made from here on, but perhaps after answers and messages.
    ///
    /// Throws `invalidArgument` when the key, or the type's name, is not usable, or the actor is not local.
    public func checkIn<Act: DistributedActor>(
        _ actor: Act, as key: String
    ) throws(ActorCallError) where Act.ID == ActorID {
        try checkIn(actor.id, as: key, Act.self)
    }

    /// Checks the actor in as the type that `@Resolvable` generates for a protocol; the type was registered with it.
    public func checkIn<Act: DistributedActor, Stub: DistributedActor>(
        _ actor: Act, of stub: Stub.Type, as key: String
    ) throws(ActorCallError) where Act.ID == ActorID, Stub.ID == ActorID {
        let slot = try slot(stub, key)
        guard system.allowList(of: actor)?.isKnown(as: slot.type) == true else {
            throw ActorCallError(.invalidArgument, "\(Act.self) was not registered as \(stub)")
        }
        try checkIn(actor.id, as: key, stub)
    }

    /// Checks the actor out under that key.
    public func checkOut<Act: DistributedActor>(
        _ actor: Act, as key: String
    ) throws(ActorCallError) where Act.ID == ActorID {
        try checkOut(actor.id, as: key, Act.self)
    }

    /// Checks the actor out as the type under which it was found.
    public func checkOut<Act: DistributedActor, Stub: DistributedActor>(
        _ actor: Act, of stub: Stub.Type, as key: String
    ) throws(ActorCallError) where Act.ID == ActorID, Stub.ID == ActorID {
        try checkOut(actor.id, as: key, stub)
    }

    /// Returns the actors that can be found now, including those of this side, in the order in which they checked in. Empty for a
    /// key that is not valid.
    public func find<Act: DistributedActor>(
        _ type: Act.Type, as key: String
    ) -> [Act] where Act.ID == ActorID, Act.ActorSystem == PeerActorSystem {
        guard let slot = try? slot(type, key) else { return [] }
        return system.checkInRegistry.present(slot).compactMap { try? Act.resolve(id: $0, using: system) }
    }

    /// Returns the present actors, and then further ones as they check in: each once. The sequence ends when the task is
    /// cancelled.
    public func checkIns<Act: DistributedActor>(
        of type: Act.Type, as key: String
    ) -> CheckIns<Act> where Act.ID == ActorID {
        CheckIns(changes: changes(of: type, as: key))
    }

    /// Returns the same with those that leave. A slow reader does not receive actors that came and left in the meantime.
    public func changes<Act: DistributedActor>(
        of type: Act.Type, as key: String
    ) -> Changes<Act> where Act.ID == ActorID {
        Changes(system: system, slot: try? slot(type, key))
    }

    /// Actors as they check in.
    public struct CheckIns<Act: DistributedActor>: AsyncSequence, Sendable
    where Act.ActorSystem == PeerActorSystem {
        /// An actor, here or at a peer.
        public typealias Element = Act
        /// The sequence never fails.
        public typealias Failure = Never

        fileprivate let changes: Changes<Act>

        /// Returns an iterator that begins with the present actors.
        public func makeAsyncIterator() -> Iterator { Iterator(base: changes.makeAsyncIterator()) }

        /// Returns the actors one by one.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate var base: Changes<Act>.Iterator

            /// Returns the next actor; nil once the task is cancelled.
            public mutating func next() async -> Act? {
                while let change = await base.next() {
                    if case .arrived(let actor) = change { return actor }
                }
                return nil
            }
        }
    }

    /// Actors as they arrive and leave.
    public struct Changes<Act: DistributedActor>: AsyncSequence, Sendable
    where Act.ActorSystem == PeerActorSystem {
        /// An actor has arrived or left.
        public enum Element: Sendable {
            /// An actor that can be called from here on.
            case arrived(Act)
            /// The actor of that address is gone.
            case left(ActorID)
        }
        /// The sequence never fails.
        public typealias Failure = Never

        fileprivate let system: PeerActorSystem
        fileprivate let slot: CheckInRegistry.Slot?

        /// Returns an iterator that begins with the present actors.
        public func makeAsyncIterator() -> Iterator {
            Iterator(system: system, watch: slot.map { system.checkInRegistry.watch($0) })
        }

        /// Returns the changes one by one.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate let system: PeerActorSystem
            fileprivate let watch: CheckInWatch?

            /// Returns the next change; nil once the task is cancelled.
            public mutating func next() async -> Element? {
                while let change = await watch?.next() {
                    switch change {
                    case .left(let id): return .left(id)
                    case .arrived(let id):
                        // A local actor may have gone since.
                        if let actor = try? Act.resolve(id: id, using: system) { return .arrived(actor) }
                    }
                }
                return nil
            }
        }
    }

    private func checkIn(
        _ id: ActorID, as key: String, _ type: any Any.Type
    ) throws(ActorCallError) {
        let slot = try slot(type, key)
        guard id.peer == system.peer else {
            throw ActorCallError(.invalidArgument, "\(id) is not local; it checks in at its own peer")
        }
        system.checkIn(Envelope.CheckIn(key: slot.key, type: slot.type, place: id.place))
    }

    private func checkOut(
        _ id: ActorID, as key: String, _ type: any Any.Type
    ) throws(ActorCallError) {
        let slot = try slot(type, key)
        // An actor of a peer has not checked in here.
        guard id.peer == system.peer else { return }
        system.checkOut(Envelope.CheckIn(key: slot.key, type: slot.type, place: id.place))
    }

    private func slot(_ type: any Any.Type, _ key: String) throws(ActorCallError) -> CheckInRegistry.Slot {
        guard (1...Envelope.Limit.key).contains(key.utf8.count) else {
            throw ActorCallError(.invalidArgument, "a key has 1 to 255 bytes, not \(key.utf8.count)")
        }
        guard let name = _mangledTypeName(type), (1...Envelope.Limit.type).contains(name.utf8.count) else {
            throw ActorCallError(.invalidArgument, "the name of \(type) differs between processes")
        }
        return CheckInRegistry.Slot(key: key, type: name)
    }
}
