public import Distributed
import Multipeer
import MultipeerTransport

/// Where actors are found: they check in under a key, and everybody who is linked with their peer finds them.
///
/// A key and a type belong together: under one key, actors of each type are found for themselves. Whoever is gone is not
/// found any more: an actor that was let go of, or all of a peer whose link has ended.
public struct Receptionist: Sendable {
    let system: PeerActorSystem

    /// Lets the actor be found under that key, 1 to 255 bytes, by everybody who is or comes to be linked. Register its type
    /// first, or peers find it and cannot call it. Checking in again changes nothing. This side finds it at once; peers hear
    /// of it before they hear what is called from here on, but perhaps behind answers and messages.
    ///
    /// Throws `invalidArgument` when the key, or the type's name, does not serve, or the actor lives elsewhere.
    public func checkIn<Act: DistributedActor>(
        _ actor: Act, as key: String
    ) throws(ActorCallError) where Act.ID == ActorID {
        try checkIn(actor.id, as: key, Act.self)
    }

    /// The same, to be found as what `@Resolvable` makes of a protocol; the type was registered with it.
    public func checkIn<Act: DistributedActor, Stub: DistributedActor>(
        _ actor: Act, of stub: Stub.Type, as key: String
    ) throws(ActorCallError) where Act.ID == ActorID, Stub.ID == ActorID {
        let slot = try slot(stub, key)
        guard system.allowList(of: actor)?.isKnown(as: slot.type) == true else {
            throw ActorCallError(.invalidArgument, "\(Act.self) was not registered as \(stub)")
        }
        try checkIn(actor.id, as: key, stub)
    }

    /// Lets the actor not be found any more under that key.
    public func checkOut<Act: DistributedActor>(
        _ actor: Act, as key: String
    ) throws(ActorCallError) where Act.ID == ActorID {
        try checkOut(actor.id, as: key, Act.self)
    }

    /// The same for what it was found as.
    public func checkOut<Act: DistributedActor, Stub: DistributedActor>(
        _ actor: Act, of stub: Stub.Type, as key: String
    ) throws(ActorCallError) where Act.ID == ActorID, Stub.ID == ActorID {
        try checkOut(actor.id, as: key, stub)
    }

    /// Who can be found now, those of this side too, in the order in which they came. Empty for a key that cannot be one.
    public func find<Act: DistributedActor>(
        _ type: Act.Type, as key: String
    ) -> [Act] where Act.ID == ActorID, Act.ActorSystem == PeerActorSystem {
        guard let slot = try? slot(type, key) else { return [] }
        return system.checkInRegistry.present(slot).compactMap { try? Act.resolve(id: $0, using: system) }
    }

    /// Who is there, and then whoever comes: each once. It ends when the task is cancelled.
    public func checkIns<Act: DistributedActor>(
        of type: Act.Type, as key: String
    ) -> CheckIns<Act> where Act.ID == ActorID {
        CheckIns(changes: changes(of: type, as: key))
    }

    /// The same with those who go. A slow reader does not hear of who came and went meanwhile.
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
        /// It never fails.
        public typealias Failure = Never

        fileprivate let changes: Changes<Act>

        /// Begins with who is there now.
        public func makeAsyncIterator() -> Iterator { Iterator(base: changes.makeAsyncIterator()) }

        /// Hands out actors.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate var base: Changes<Act>.Iterator

            /// The next one; nil once the task is cancelled.
            public mutating func next() async -> Act? {
                while let change = await base.next() {
                    if case .arrived(let actor) = change { return actor }
                }
                return nil
            }
        }
    }

    /// Actors as they come and go.
    public struct Changes<Act: DistributedActor>: AsyncSequence, Sendable
    where Act.ActorSystem == PeerActorSystem {
        /// Somebody has come or gone.
        public enum Element: Sendable {
            /// An actor that can be called from here on.
            case arrived(Act)
            /// The actor of that address is gone.
            case left(ActorID)
        }
        /// It never fails.
        public typealias Failure = Never

        fileprivate let system: PeerActorSystem
        fileprivate let slot: CheckInRegistry.Slot?

        /// Begins with who is there now.
        public func makeAsyncIterator() -> Iterator {
            Iterator(system: system, watch: slot.map { system.checkInRegistry.watch($0) })
        }

        /// Hands out changes.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate let system: PeerActorSystem
            fileprivate let watch: CheckInWatch?

            /// The next one; nil once the task is cancelled.
            public mutating func next() async -> Element? {
                while let change = await watch?.next() {
                    switch change {
                    case .left(let id): return .left(id)
                    case .arrived(let id):
                        // One of this side may have gone since.
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
            throw ActorCallError(.invalidArgument, "\(id) does not live here, and checks in where it does")
        }
        system.checkIn(Envelope.CheckIn(key: slot.key, type: slot.type, place: id.place))
    }

    private func checkOut(
        _ id: ActorID, as key: String, _ type: any Any.Type
    ) throws(ActorCallError) {
        let slot = try slot(type, key)
        // One of a peer has not checked in here.
        guard id.peer == system.peer else { return }
        system.checkOut(Envelope.CheckIn(key: slot.key, type: slot.type, place: id.place))
    }

    private func slot(_ type: any Any.Type, _ key: String) throws(ActorCallError) -> CheckInRegistry.Slot {
        guard (1...Envelope.Limit.key).contains(key.utf8.count) else {
            throw ActorCallError(.invalidArgument, "a key has 1 to 255 bytes, not \(key.utf8.count)")
        }
        guard let name = _mangledTypeName(type), (1...Envelope.Limit.type).contains(name.utf8.count) else {
            throw ActorCallError(.invalidArgument, "\(type) has no name that is the same in every process")
        }
        return CheckInRegistry.Slot(key: key, type: name)
    }
}
