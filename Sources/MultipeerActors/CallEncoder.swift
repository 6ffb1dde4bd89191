public import Distributed
import Foundation
import Multipeer
import MultipeerCore
import MultipeerTransport

/// Collects the parts of one call of a remote actor.
public struct CallEncoder: DistributedTargetInvocationEncoder {
    /// The requirement for arguments.
    public typealias SerializationRequirement = any Codable

    private let coding: Coding
    private var generics: [String] = []
    /// Each with its length before it, in the format in which they are sent.
    private var arguments: [UInt8] = []
    private var count = 0
    /// Streams and files among the arguments.
    let attachments = Attachments()

    init(_ format: PeerActorSystem.Format) { coding = format == .json ? .json : .binary }

    /// Records a generic argument of the method, or of the actor.
    public mutating func recordGenericSubstitution<Substitution>(_ type: Substitution.Type) throws {
        guard let name = _mangledTypeName(type), name.utf8.count <= Envelope.Limit.generic else {
            throw ActorCallError(.coding, "the name of \(type) is too long, or differs between processes")
        }
        guard generics.count < Envelope.Limit.generics else {
            throw ActorCallError(.coding, "a call has at most 16 generic arguments")
        }
        generics.append(name)
    }

    /// Records the next argument.
    public mutating func recordArgument<Value: Codable>(_ argument: RemoteCallArgument<Value>) throws {
        guard count < Envelope.Limit.arguments else {
            throw ActorCallError(.coding, "a call has at most 64 arguments")
        }
        let bytes: [UInt8]
        do {
            bytes = try ValueCoding.encode(argument.value, coding, attachments)
        } catch {
            throw ActorCallError(
                .coding, "the argument \(argument.effectiveLabel) cannot be encoded: \(error)")
        }
        arguments.append(number: UInt32(clamping: bytes.count))
        arguments.append(contentsOf: bytes)
        count += 1
    }

    /// Does nothing: errors are sent under the names with which they were registered.
    public mutating func recordErrorType<Failure: Error>(_ type: Failure.Type) throws {}
    /// Does nothing: the type of the result is the method's, on both sides.
    public mutating func recordReturnType<Result: Codable>(_ type: Result.Type) throws {}
    /// Ends the recording.
    public mutating func doneRecording() throws {}

    /// Returns the CALL without its number.
    func bytes(
        to place: ActorID.Place, _ target: String, budget: Duration?, depth: UInt8
    ) throws(ActorCallError) -> [UInt8] {
        guard target.utf8.count <= Envelope.Limit.target else {
            throw ActorCallError(.coding, "the name of the method has more than 2,048 bytes")
        }
        // Rounded up, so that no budget becomes 0, and no call times out early.
        let milliseconds = budget.map { ($0.wholeNanoseconds + 999_999) / 1_000_000 }
        let call = Envelope.Call(
            depth: depth, budget: milliseconds.map { UInt32(clamping: max(1, $0)) }, coding: coding,
            place: place, target: target, generics: generics)
        var bytes = call.head(capacity: arguments.count + 1)
        bytes.append(UInt8(truncatingIfNeeded: count))
        bytes.append(contentsOf: arguments)
        call.appendDepth(to: &bytes)
        return bytes
    }
}

/// Returns the parts of a peer's call.
public struct CallDecoder: DistributedTargetInvocationDecoder {
    /// The requirement for arguments.
    public typealias SerializationRequirement = any Codable

    private let system: PeerActorSystem
    private let call: Envelope.Call
    private let caller: PeerID
    private var next = 0

    init(_ system: PeerActorSystem, _ call: Envelope.Call, _ caller: PeerID) {
        self.system = system
        self.call = call
        self.caller = caller
    }

    /// Returns the types whose names were allowed.
    public mutating func decodeGenericSubstitutions() throws -> [any Any.Type] {
        let types = try call.generics.map { name in
            guard let type = _typeByName(name) else { throw ArgumentFault(cause: "no type \(name)") }
            return type
        }
        // The runtime reads as many as the method has, without checking how many were returned.
        return types.isEmpty ? [] : types + Array(repeating: Missing.self as any Any.Type, count: 64)
    }

    /// Takes the place of a missing generic argument. It conforms to nothing, and its name is short, because the text
    /// of the error lists all of them.
    private typealias Missing = Void

    /// Returns the next argument; throws when there is none, or it has another type.
    public mutating func decodeNextArgument<Argument: Codable>() throws -> Argument {
        guard next < call.arguments.count else { throw ArgumentFault(cause: "an argument is missing") }
        defer { next += 1 }
        do {
            return try system.value(call.coding, call.arguments[next], from: caller)
        } catch {
            throw ArgumentFault(cause: "argument \(next): \(error)")
        }
    }

    /// Returns nil: errors are identified by their names.
    public mutating func decodeErrorType() throws -> (any Any.Type)? { nil }
    /// Returns nil: the method knows its result.
    public mutating func decodeReturnType() throws -> (any Any.Type)? { nil }
}

/// The target cannot be called with these arguments.
struct ArgumentFault: Error {
    let cause: String
}

/// Sends the result or the error of a local method.
public struct CallResultHandler: DistributedTargetInvocationResultHandler {
    /// The requirement for results.
    public typealias SerializationRequirement = any Codable

    private let system: PeerActorSystem
    private let call: IncomingCall
    private let coding: Coding
    init(_ system: PeerActorSystem, _ call: IncomingCall, _ coding: Coding) {
        self.system = system
        self.call = call
        self.coding = coding
    }

    /// Sends a result.
    public func onReturn<Success: Codable>(value: Success) async throws {
        let attachments = Attachments()
        let bytes: [UInt8]
        do {
            bytes = try ValueCoding.encode(value, coding, attachments)
        } catch {
            // The attachments of the value are given up.
            return await give(
                .failure(.coding, type: "", text: "the result: \(error)".prefix(utf8: Envelope.Limit.text)))
        }
        await system.answer(.value(coding, bytes), with: attachments, to: call)
    }

    /// Reports the end of a method without a result.
    public func onReturnVoid() async throws { await give(.done) }

    /// Sends an error.
    public func onThrow<Failure: Error>(error: Failure) async throws { await give(answer(for: error)) }

    func give(_ answer: Envelope.Answer) async { await system.answer(answer, to: call) }

    private func answer(for error: any Error) -> Envelope.Answer {
        func text(_ value: Any, _ limit: Int) -> String { String(describing: value).prefix(utf8: limit) }
        if let fault = error as? ArgumentFault {
            return .failure(.coding, type: "", text: text(fault.cause, Envelope.Limit.text))
        }
        if let error = error as? ActorCallError, error.code == .timedOut, PeerActorSystem.isOverdue {
            return .failure(.timedOut, type: "", text: text(error, Envelope.Limit.text))
        }
        if error is CancellationError {
            return .failure(.cancelled, type: "", text: "the method was cancelled")
        }
        if let name = system.registry.withLock({ $0.name(of: error) }),
            let error = error as? any (Error & Codable)
        {
            do {
                return .error(type: name, coding, try ValueCoding.encode(error, coding, Attachments()))
            } catch {
                return .failure(.coding, type: name, text: text("the error: \(error)", Envelope.Limit.text))
            }
        }
        return .failure(
            .thrown, type: text(String(reflecting: type(of: error)), Envelope.Limit.type),
            text: text(error, Envelope.Limit.text))
    }
}
