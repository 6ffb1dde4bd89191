import Foundation
import Multipeer
import MultipeerCommandLine

/// One request: an operation and its fields, each of which is taken out once. Remaining fields are not implemented.
struct ShimRequest {
    let id: ShimValue?
    let op: String
    private var fields: [String: ShimValue]

    /// Throws for anything but a request; the error has the request's `id`, if it could be read.
    init(_ line: String) throws(Unreadable) {
        let value = try? JSONDecoder().decode(ShimValue.self, from: Data(line.utf8))
        guard case .object(var fields) = value else {
            throw Unreadable(id: nil, text: "not a JSON object")
        }
        id = fields.removeValue(forKey: "id")
        guard case .text(let op) = fields.removeValue(forKey: "op") else {
            throw Unreadable(id: id, text: "no op")
        }
        self.op = op
        self.fields = fields
    }

    /// Creates a request with the fields of a nested object.
    private init(_ outer: ShimRequest, _ fields: [String: ShimValue]) {
        (id, op, self.fields) = (outer.id, outer.op, fields)
    }

    struct Unreadable: Error {
        let id: ShimValue?
        let text: String
    }

    /// Throws when a field was not taken.
    func end() throws(ShimFault) {
        if let field = fields.keys.min() { throw .unimplemented(field) }
    }

    private mutating func take(_ name: String) -> ShimValue? {
        let value = fields.removeValue(forKey: name)
        return value == .null ? nil : value
    }

    private func wrong(_ name: String, _ kind: String) -> ShimFault { .invalid("\(name) is \(kind)") }

    func required<Value>(_ name: String, _ value: Value?) throws(ShimFault) -> Value {
        guard let value else { throw .invalid("\(name) is missing") }
        return value
    }
}

// MARK: kinds of fields

extension ShimRequest {
    mutating func text(_ name: String) throws(ShimFault) -> String? {
        switch take(name) {
        case nil: return nil
        case .text(let text): return text
        default: throw wrong(name, "a string")
        }
    }

    mutating func flag(_ name: String) throws(ShimFault) -> Bool? {
        switch take(name) {
        case nil: return nil
        case .flag(let flag): return flag
        default: throw wrong(name, "true or false")
        }
    }

    mutating func integer(_ name: String) throws(ShimFault) -> Int? {
        switch take(name) {
        case nil: return nil
        case .integer(let number): return number
        default: throw wrong(name, "a whole number")
        }
    }

    /// Returns a whole number that is not negative.
    mutating func count(_ name: String) throws(ShimFault) -> Int? {
        guard let number = try integer(name) else { return nil }
        if number < 0 { throw wrong(name, "not negative") }
        return number
    }

    mutating func seconds(_ name: String) throws(ShimFault) -> Duration? {
        switch take(name) {
        case nil: return nil
        case .integer(let number) where abs(number) < 1_000_000: return .seconds(number)
        case .number(let number) where abs(number) < 1_000_000: return .seconds(number)
        default: throw wrong(name, "a number of seconds")
        }
    }

    mutating func bytes(_ name: String) throws(ShimFault) -> [UInt8]? {
        guard let text = try text(name) else { return nil }
        guard let bytes = ShimValue.bytes(hex: text) else { throw wrong(name, "pairs of hexadecimal digits") }
        return bytes
    }

    mutating func uid(_ name: String) throws(ShimFault) -> UID? {
        guard let bytes = try bytes(name) else { return nil }
        guard let uid = UID(bytes) else { throw wrong(name, "32 hexadecimal digits") }
        return uid
    }

    /// Returns a peer that is identified by its uid; the name is a placeholder.
    mutating func peer(_ name: String, called: String = "peer") throws(ShimFault) -> PeerID? {
        try uid(name).map { uid throws(ShimFault) in try ShimRequest.peer(uid, called) }
    }

    /// Returns one peer or several.
    mutating func peers(_ name: String) throws(ShimFault) -> [PeerID]? {
        guard case .list(let list)? = fields[name] else { return try peer(name).map { [$0] } }
        fields[name] = nil
        var peers: [PeerID] = []
        for item in list {
            guard case .text(let text) = item, let uid = ShimValue.bytes(hex: text).flatMap({ UID($0) })
            else {
                throw wrong(name, "a list of uids")
            }
            peers.append(try ShimRequest.peer(uid, "peer"))
        }
        return peers
    }

    static func peer(_ uid: UID, _ name: String) throws(ShimFault) -> PeerID {
        do throws(MultipeerError) {
            return try PeerID(uid: uid, displayName: name)
        } catch {
            throw .invalid("\(error)")
        }
    }

    mutating func code(_ name: String) throws(ShimFault) -> CloseCode? {
        guard let number = try integer(name) else { return nil }
        guard let value = UInt16(exactly: number) else { throw wrong(name, "a code") }
        return CloseCode(rawValue: value)
    }

    mutating func texts(_ name: String) throws(ShimFault) -> [String]? {
        switch take(name) {
        case nil: return nil
        case .list(let list):
            let texts = list.compactMap { item in if case .text(let text) = item { text } else { nil } }
            guard texts.count == list.count else { throw wrong(name, "a list of strings") }
            return texts
        default: throw wrong(name, "a list of strings")
        }
    }

    /// Returns one address or several.
    mutating func addresses(_ name: String) throws(ShimFault) -> [SocketAddress]? {
        var texts: [String]?
        if case .text(let text)? = fields[name] {
            fields[name] = nil
            texts = [text]
        } else {
            texts = try self.texts(name)
        }
        guard let texts else { return nil }
        var addresses: [SocketAddress] = []
        for text in texts {
            guard let address = SocketAddress(text) else { throw wrong(name, "a list of addresses") }
            addresses.append(address)
        }
        return addresses
    }

    mutating func dictionary(_ name: String) throws(ShimFault) -> [String: String]? {
        guard let object = try object(name) else { return nil }
        var entries: [String: String] = [:]
        for (key, value) in object.fields {
            guard case .text(let text) = value else { throw wrong(name, "an object of strings") }
            entries[key] = text
        }
        return entries
    }

    /// Returns the fields of an object, which are taken like those of the request.
    mutating func object(_ name: String) throws(ShimFault) -> ShimRequest? {
        switch take(name) {
        case nil: return nil
        case .object(let fields): return ShimRequest(self, fields)
        default: throw wrong(name, "an object")
        }
    }

    /// Returns the value for one of some words; any other word is not implemented.
    mutating func word<Value>(_ name: String, _ words: [String: Value]) throws(ShimFault) -> Value? {
        guard let text = try text(name) else { return nil }
        guard let value = words[text] else { throw .unimplemented(name) }
        return value
    }
}
