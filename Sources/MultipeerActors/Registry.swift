import Distributed

/// What was registered: types of actors, and of errors.
struct Registry: Sendable {
    private var permits: [ObjectIdentifier: Permit] = [:]
    private var errors: [String: any (Error & Codable).Type] = [:]
    private var names: [ObjectIdentifier: String] = [:]

    func permit(of type: any Any.Type) -> Permit? { permits[ObjectIdentifier(type)] }

    mutating func add(_ permit: Permit, for type: any Any.Type) { permits[ObjectIdentifier(type)] = permit }

    func name(of error: any Error) -> String? { names[ObjectIdentifier(type(of: error))] }

    func error(named name: String) -> (any (Error & Codable).Type)? { errors[name] }

    /// False when another type has the name.
    mutating func add(_ type: any (Error & Codable).Type, named name: String) -> Bool {
        if let other = errors[name], ObjectIdentifier(other) != ObjectIdentifier(type) { return false }
        errors[name] = type
        names[ObjectIdentifier(type)] = name
        return true
    }
}
