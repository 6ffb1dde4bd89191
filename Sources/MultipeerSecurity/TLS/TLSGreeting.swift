/// The application protocols that a ClientHello offers, the first message of a TLS connection: RFC 8446, section 4.1.2, and
/// RFC 7301.
///
/// Only decides which part of the process handles a connection, not what that accepts.
package enum TLSGreeting: Equatable, Sendable {
    /// More bytes are needed.
    case incomplete
    /// Not the beginning of TLS, or too long.
    case unreadable
    /// The names of the offered protocols, in order; none for a client that offers none.
    case offers([[UInt8]])

    /// The maximum of bytes that are examined. OpenSSL's with a hybrid key share has 1,700.
    package static let limit = 8_192

    /// Reads as many bytes as were received so far.
    package init(_ bytes: [UInt8]) {
        var input = GreetingFields(bytes[...])
        var message: [UInt8] = []
        while let type = input.number(1) {
            guard type == 22 else { self = .unreadable; return }
            guard let version = input.number(1) else { break }
            guard version == 3 else { self = .unreadable; return }
            guard input.number(1) != nil, let length = input.number(2) else { break }
            guard length > 0 else { self = .unreadable; return }
            message += input.upTo(length)
            if let result = TLSGreeting.read(message) { self = result; return }
        }
        self = bytes.count < TLSGreeting.limit ? .incomplete : .unreadable
    }

    /// Whether the connection is one for invitations, and not for a link. [invite.tls]
    package var isForInvitations: Bool {
        guard case .offers(let names) = self else { return false }
        return names.contains(Array(InvitationTLS.applicationProtocol.utf8))
            && !names.contains(Array(TLSContext.linkProtocol.utf8))
    }

    /// Returns nil while the message is not complete.
    private static func read(_ message: [UInt8]) -> TLSGreeting? {
        var fields = GreetingFields(message[...])
        guard let type = fields.number(1) else { return nil }
        guard type == 1 else { return .unreadable }
        guard let length = fields.number(3) else { return nil }
        guard length <= limit else { return .unreadable }
        guard let body = fields.take(length) else { return nil }
        return names(in: body).map { .offers($0) } ?? .unreadable
    }

    private static func names(in body: ArraySlice<UInt8>) -> [[UInt8]]? {
        var fields = GreetingFields(body)
        guard fields.take(34) != nil, fields.vector(1) != nil, fields.vector(2) != nil,
            fields.vector(1) != nil
        else { return nil }
        if fields.isEmpty { return [] }
        guard let list = fields.vector(2), fields.isEmpty else { return nil }
        var extensions = GreetingFields(list)
        while !extensions.isEmpty {
            guard let type = extensions.number(2), let data = extensions.vector(2) else { return nil }
            if type == 16 { return protocols(in: data) }
        }
        return []
    }

    private static func protocols(in data: ArraySlice<UInt8>) -> [[UInt8]]? {
        var fields = GreetingFields(data)
        guard let list = fields.vector(2), fields.isEmpty else { return nil }
        var rest = GreetingFields(list)
        var names: [[UInt8]] = []
        while !rest.isEmpty {
            guard let name = rest.vector(1), !name.isEmpty else { return nil }
            names.append(Array(name))
        }
        return names
    }
}

/// Numbers and vectors, in order, of bytes from the network.
private struct GreetingFields {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    var isEmpty: Bool { rest.isEmpty }

    mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
        guard rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    /// Returns fewer when there are fewer.
    mutating func upTo(_ count: Int) -> ArraySlice<UInt8> {
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    /// Returns a number of at most 3 bytes, most significant first.
    mutating func number(_ width: Int) -> Int? { take(width)?.reduce(0) { $0 << 8 | Int($1) } }

    /// Returns the bytes after their length, which is such a number.
    mutating func vector(_ width: Int) -> ArraySlice<UInt8>? {
        guard let count = number(width) else { return nil }
        return take(count)
    }
}
