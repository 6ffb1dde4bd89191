public import Distributed
import MultipeerTransport

// MARK: what peers may do

extension PeerActorSystem {
    /// Lets peers call the distributed methods and properties of actors of this type, and no others. Register every type before
    /// the session links; actors of a type that was not registered can only be called by this process.
    ///
    /// ```swift
    /// try system.register(Worker.self)
    /// try system.register(Worker.self, as: [$Greeter.self])                // also through a @Resolvable protocol
    /// try system.register(Sorter.self, generics: [Int.self, String.self])  // allowed generic arguments
    /// try system.register(Box<Int>.self, arguments: [Int.self])            // a generic actor
    /// try system.register(Safe.self, methods: ["status()", "put(_:)"])     // only these methods
    /// ```
    ///
    /// Generic methods of a generic actor, and those of a `@Resolvable` protocol, are always refused: the runtime of Swift 6.3
    /// mixes up their types.
    ///
    /// Registering a type again replaces the previous registration.
    ///
    /// - Parameters:
    ///   - type: A distributed actor, not private and not within a function: its name has to be the same at every peer.
    ///   - stubs: The types that `@Resolvable` generates for the protocols through which peers call it.
    ///   - generics: The types that may be arguments of generic methods.
    ///   - arguments: The generic arguments of the type itself, all of them, in order.
    ///   - methods: The names of the methods, as in `#selector`, if not all may be called.
    /// - Throws: `invalidArgument` when a type is not usable.
    public func register<Act: DistributedActor>(
        _ type: Act.Type, as stubs: [any DistributedActor.Type] = [], generics: [any Any.Type] = [],
        arguments: [any Any.Type] = [], methods: Set<String>? = nil
    ) throws(ActorCallError) where Act.ID == ActorID {
        let allowList = try CallAllowList(
            type, as: stubs, arguments: arguments, generics: generics, methods: methods)
        registry.withLock { $0.add(allowList, for: type) }
    }

    /// Lets errors of this type be sent: thrown by a method here they arrive with their type at peers that have also registered
    /// it, and the other way round. Errors of other types arrive as a `RemoteError`.
    ///
    /// The name, 1 to 255 bytes, defaults to the type's with its module; it has to be the same on both sides.
    ///
    /// Throws `invalidArgument` when another type has the name.
    public func register<Failure: Error & Codable>(
        error type: Failure.Type, named name: String? = nil
    ) throws(ActorCallError) {
        let name = name ?? String(reflecting: type)
        guard (1...Envelope.Limit.type).contains(name.utf8.count),
            registry.withLock({ $0.add(type, named: name) })
        else {
            throw ActorCallError(
                .invalidArgument, "the name '\(name)' is not 1 to 255 bytes, or another error has it")
        }
    }

    func allowList(of actor: any DistributedActor) -> CallAllowList? {
        registry.withLock { $0.allowList(of: type(of: actor)) }
    }
}
