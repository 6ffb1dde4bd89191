import Distributed

/// The registered types of actors and errors.
struct TypeRegistry: Sendable {
    private var allowLists: [ObjectIdentifier: CallAllowList] = [:]
    /// The keys are the bytes of the names.
    private var errors: [[UInt8]: any (Error & Codable).Type] = [:]
    private var names: [ObjectIdentifier: String] = [:]

    func allowList(of type: any Any.Type) -> CallAllowList? { allowLists[ObjectIdentifier(type)] }

    mutating func add(_ allowList: CallAllowList, for type: any Any.Type) {
        allowLists[ObjectIdentifier(type)] = allowList
    }

    func name(of error: any Error) -> String? { names[ObjectIdentifier(type(of: error))] }

    func error(named name: String) -> (any (Error & Codable).Type)? { errors[Array(name.utf8)] }

    /// Registers the error. Returns false when another type has the name.
    mutating func add(_ type: any (Error & Codable).Type, named name: String) -> Bool {
        let bytes = Array(name.utf8)
        if let other = errors[bytes], ObjectIdentifier(other) != ObjectIdentifier(type) { return false }
        errors[bytes] = type
        names[ObjectIdentifier(type)] = name
        return true
    }
}
