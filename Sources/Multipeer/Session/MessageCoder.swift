public import MultipeerCore
import MultipeerEssentials
import MultipeerFoundation
import MultipeerTransport

/// The encoding of `Codable` values as messages. All peers of an application use the same one.
///
/// `JSONMessageCoder` is one. Others wrap the encoder and decoder of a library of your choice.
public protocol MessageCoder: Sendable {
    /// Returns the bytes of a value.
    func encode<Value: Encodable>(_ value: Value) throws -> [UInt8]
    /// Returns the value with these bytes, which come from a peer: throws for anything that is not a value of this type.
    func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value
}

/// Values as JSON, with sorted keys.
public struct JSONMessageCoder: MessageCoder {
    /// Creates the coder.
    public init() {}

    /// Returns the value as JSON.
    public func encode<Value: Encodable>(_ value: Value) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return [UInt8](try encoder.encode(value))
    }

    /// Returns the value that the JSON stands for.
    public func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
        try JSONDecoder().decode(type, from: Data(bytes))
    }
}

extension MessageCoder where Self == JSONMessageCoder {
    /// Values as JSON, with sorted keys: the default.
    public static var json: JSONMessageCoder { JSONMessageCoder() }
}

extension Session {
    /// Encodes a value and sends it as one reliable message.
    ///
    /// ```swift
    /// try await session.send(encoding: Move(x: 3, y: 4), to: bob)
    /// for await message in session.messages(as: Move.self) { board.apply(try message.value, by: message.peer) }
    /// ```
    ///
    /// Throws what the coder throws, and otherwise like `send(_:to:)`.
    public func send<Value: Encodable>(
        encoding value: sending Value, to peer: PeerID, using coder: any MessageCoder = .json
    ) async throws {
        try await send(try coder.encode(value), to: peer)
    }

    /// Encodes a value once and sends it to every peer that is linked now; returns those that it was accepted for.
    ///
    /// Throws what the coder throws, before anything is sent, and otherwise like `sendToAll(_:)`.
    @discardableResult
    public func sendToAll<Value: Encodable>(
        encoding value: sending Value, using coder: any MessageCoder = .json
    ) async throws -> [PeerID] {
        try await sendToAll(try coder.encode(value))
    }

    /// The messages of all peers, decoded.
    ///
    /// A message that cannot be decoded is an element whose `result` is a failure: a peer that sends anything else does not end
    /// the loop.
    public func messages<Value: Decodable & Sendable>(
        as type: Value.Type, using coder: any MessageCoder = .json
    ) -> EventSequence<TypedMessage<Value>> {
        EventSequence(events) { event in
            guard case .message(let message) = event else { return nil }
            return TypedMessage(
                peer: message.peer, result: Result { try coder.decode(type, from: message.bytes) })
        }
    }

    /// A decoded message.
    public struct TypedMessage<Value: Sendable>: Sendable {
        /// The sender.
        public let peer: PeerID
        /// The value, or the error of the coder.
        public let result: Result<Value, any Error>

        /// The value; throws the coder's error if the message is not a valid encoding.
        public var value: Value {
            get throws { try result.get() }
        }
    }
}
