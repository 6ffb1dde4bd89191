package import Distributed
import MultipeerTransport

/// What peers may call on actors of one type, and with which generic arguments. The list is made before any call, and
/// checked before anything is executed.
package final class CallAllowList: Sendable {
    /// The mangled name of the type without its generic arguments, and those arguments: a call's generic arguments
    /// begin with them.
    private let type: [UInt8]
    private let own: [String]
    private let stubs: [Stub]
    /// Types that may take the place of a generic parameter, by their mangled names.
    private let generics: Set<String>
    /// Names of methods as they are written in Swift, without the type, in UTF-8; nil for all that the type declares.
    private let methods: Set<[UInt8]>?

    /// A `@Resolvable` protocol through which the actors are called.
    private struct Stub: Sendable {
        let name: String
        let mangled: [UInt8]
        /// `any Greeter`: the actor has to conform to it, so that its method is found where the runtime looks for it.
        let served: any Any.Type

        func isServed(by actor: any DistributedActor) -> Bool {
            func isServed<Served>(_ type: Served.Type) -> Bool { actor is Served }
            return isServed(served)
        }
    }

    /// Targets without generic arguments that were found to be allowed, since the same few are called again and
    /// again.
    private let known = Locked<Set<String>>([])
    private static let knownAtMost = 256

    /// The mangled name of the type itself; calls of a protocol's default implementation have it as a generic
    /// argument.
    private let whole: String

    package init<Act: DistributedActor>(
        _ type: Act.Type, as stubs: [any DistributedActor.Type], arguments: [any Any.Type],
        generics: [any Any.Type], methods: Set<String>?
    ) throws(ActorCallError) {
        let whole = try CallAllowList.mangled(type)
        self.whole = whole
        own = try arguments.map { type throws(ActorCallError) in try CallAllowList.mangled(type) }
        if own.isEmpty {
            guard whole.hasSuffix("C") else {
                throw ActorCallError(
                    .invalidArgument, "\(type) is generic: name its arguments, as in 'arguments: [Int.self]'")
            }
            self.type = Array(whole.utf8)
        } else {
            let ending = "y" + own.joined() + "G"
            guard whole.hasSuffix("C" + ending) else {
                throw ActorCallError(
                    .invalidArgument,
                    "the arguments of \(type) are others, or too intricate to be called by peers")
            }
            self.type = Array(whole.utf8.dropLast(ending.utf8.count))
        }
        self.generics = Set(
            try generics.map { type throws(ActorCallError) in
                try CallAllowList.mangled(type, atMost: Envelope.Limit.generic)
            })
        self.stubs = try stubs.map { stub throws(ActorCallError) in try CallAllowList.stub(stub) }
        self.methods = methods.map { Set($0.map { Array($0.utf8) }) }
    }

    /// Returns the stub for a protocol through which the actors are called.
    private static func stub(_ stub: any DistributedActor.Type) throws(ActorCallError) -> Stub {
        let name = try CallAllowList.mangled(stub)
        guard name.hasSuffix("C"), name.contains("$") else {
            throw ActorCallError(.invalidArgument, "\(stub) is not what @Resolvable makes of a protocol")
        }
        guard let served = CallAllowList.protocolName(of: stub).flatMap({ _typeByName($0) }) else {
            throw ActorCallError(
                .invalidArgument, "the protocol of \(stub) has no name that is the same everywhere")
        }
        return Stub(name: name, mangled: Array(name.utf8), served: served)
    }

    /// Returns the mangled name of the protocol: `Shared.$Greeter` is the stub of `6Shared7Greeter_p`. It cannot be
    /// derived from the mangled name of the stub, because the module's name may end in a digit, and words that the
    /// stub shares with its module are abbreviated there.
    private static func protocolName(of stub: any DistributedActor.Type) -> String? {
        let parts = String(reflecting: stub).split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].first == "$" else { return nil }
        let (module, name) = (parts[0], parts[1].dropFirst())
        return "\(module.utf8.count)\(module)\(name.utf8.count)\(name)_p"
    }

    /// Returns whether the type can be found under this name, which is its own or a stub's.
    func isKnown(as name: String) -> Bool { name == whole || stubs.contains { $0.name == name } }

    /// Returns why the call is refused; nil when it may be executed.
    package func refusalReason(
        about target: String, _ substitutions: [String], on actor: any DistributedActor
    ) -> String? {
        guard CallAllowList.isMangled(target), substitutions.allSatisfy(CallAllowList.isMangled) else {
            return "what is not ASCII is no mangled name"
        }
        if substitutions.isEmpty, known.withLock({ $0.contains(target) }) { return nil }
        // Before anything reads the name: the runtime creates any type that the name refers to, and never frees it.
        guard CallAllowList.isThere(target) else { return "there is no such method" }
        let name = TargetName(target)
        if name.isMember(of: type) {
            if !own.isEmpty, name.mayBeInExtension { return "the method may be one of another type" }
            if own.isEmpty {
                guard substitutions.allSatisfy(generics.contains) else {
                    return "a generic argument is not one of those that were registered"
                }
            } else if name.isGeneric {
                return CallAllowList.noGenericMethod
            } else if substitutions != own {
                return "these are not the generic arguments of the actor"
            }
        } else if let stub = stubs.first(where: { name.isMember(of: $0.mangled) }) {
            guard stub.isServed(by: actor) else { return "the actor has not the protocol" }
            guard let first = substitutions.first, first == stub.name || first == whole else {
                return "the first generic argument is not the protocol's"
            }
            if name.isGeneric || substitutions.count > 1 { return CallAllowList.noGenericMethod }
        } else {
            return "the method is not one of this type's"
        }
        if let methods, !methods.contains(CallAllowList.method(target)) {
            return "the method is not one of those registered"
        }
        if substitutions.isEmpty {
            known.withLock { known in
                if known.count < CallAllowList.knownAtMost { known.insert(target) }
            }
        }
        return nil
    }

    /// In Swift 6.3, the runtime binds the parameter of such a method to the first generic argument, which is the
    /// actor's. A value decoded as one type is then used as another, which corrupts memory instead of throwing an
    /// error.
    private static let noGenericMethod =
        "a generic method of a generic actor or of a protocol cannot be called"

    /// Returns whether this process has a distributed method of that name; the runtime's lookup only compares text.
    private static func isThere(_ target: String) -> Bool {
        var target = target
        // Safe: the text is read during the call.
        return target.withUTF8 { bytes in
            guard let start = bytes.baseAddress else { return false }
            return unsafe findAccessibleFunction(start, bytes.count) != nil
        }
    }

    /// Returns `Module.Worker.scan(tile:)` without the type, in UTF-8.
    private static func method(_ target: String) -> [UInt8] {
        let description = RemoteCallTarget(target).description.utf8
        let head = description.prefix { $0 != UInt8(ascii: "(") }
        let start = head.lastIndex(of: UInt8(ascii: ".")).map { description.index(after: $0) }
        return Array(description[(start ?? description.startIndex)...])
    }

    private static func mangled(
        _ type: any Any.Type, atMost limit: Int = Envelope.Limit.type
    ) throws(ActorCallError) -> String {
        guard let name = _mangledTypeName(type), name.utf8.count <= limit, isMangled(name) else {
            throw noName(type)
        }
        return name
    }

    /// Returns whether the name is ASCII, as mangled names are: they write other letters in Punycode. ASCII texts are
    /// equal only when their bytes are. For other texts, Swift compares canonical forms: the Kelvin sign equals a K.
    private static func isMangled(_ name: String) -> Bool { name.utf8.allSatisfy { $0 < 0x80 } }

    private static func noName(_ type: any Any.Type) -> ActorCallError {
        ActorCallError(
            .invalidArgument, "\(type) has no name that is the same in every process, or too long a one")
    }
}

/// The function of the Swift runtime that finds distributed methods.
@_silgen_name("swift_findAccessibleFunction")
private func findAccessibleFunction(_ name: UnsafePointer<UInt8>, _ count: Int) -> UnsafeRawPointer?
