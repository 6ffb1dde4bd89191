public import Distributed
import Multipeer
import MultipeerCore
import MultipeerTransport

// MARK: calling

extension PeerActorSystem {
    /// Sends a call of a remote actor's method with a result; the compiler generates calls of this.
    ///
    /// Throws what the method throws, an `ActorCallError` when it was not called or has not answered, and `CancellationError`
    /// when the task is cancelled.
    public func remoteCall<Act, Err, Res>(
        on actor: Act, target: RemoteCallTarget, invocation: inout CallEncoder, throwing: Err.Type,
        returning: Res.Type
    ) async throws -> Res
    where Act: DistributedActor, Act.ID == ActorID, Err: Error, Res: Codable {
        let (coding, bytes) = try await answer(actor.id, target, invocation)
        guard let coding else {
            throw ActorCallError(.coding, "the method of \(actor.id) returned no result")
        }
        do {
            return try value(coding, bytes, from: actor.id.peer)
        } catch {
            throw ActorCallError(.coding, "the result of \(actor.id) cannot be decoded: \(error)")
        }
    }

    /// Sends a call of a method without a result.
    public func remoteCallVoid<Act, Err>(
        on actor: Act, target: RemoteCallTarget, invocation: inout CallEncoder, throwing: Err.Type
    ) async throws where Act: DistributedActor, Act.ID == ActorID, Err: Error {
        _ = try await answer(actor.id, target, invocation)
    }

    /// Returns the encoded result, without a format when there is none.
    private func answer(
        _ id: ActorID, _ target: RemoteCallTarget, _ invocation: CallEncoder
    ) async throws -> (Coding?, [UInt8]) {
        switch try await outcome(id, target, invocation) {
        case .answered(.value(let coding, let bytes)): return (coding, bytes)
        case .answered(.done): return (nil, [])
        case .answered(.error(let name, let coding, let bytes)):
            throw thrown(name, coding, bytes, by: id.peer)
        case .answered(.failure(.thrown, let type, let text)):
            throw RemoteError(type: type, description: text, peer: id.peer)
        case .answered(.failure(let failure, _, let text)): throw ActorCallError(failure, text, id)
        case .failed(.cancelled): throw CancellationError()
        case .failed(let fault): throw ActorCallError(fault, id)
        }
    }

    private func outcome(
        _ id: ActorID, _ target: RemoteCallTarget, _ invocation: CallEncoder
    ) async throws -> CallOutcome {
        try Task.checkCancellation()
        let now = EventLoop.currentMoment()
        let context = PeerActorSystem.context ?? CallContext()
        let deadline = context.deadline(within: configuration.timeout, at: now)
        if let deadline, deadline <= now { throw ActorCallError(timedOut: id) }
        let bytes = try invocation.bytes(
            to: id.place, target.identifier, budget: deadline.map { $0 - now }, depth: context.depth)
        let caller = Caller(attachments: invocation.attachments, callee: id.peer)
        let number = try place(bytes, id, caller, deadline, now)
        let outcome = await caller.outcome.value(onCancel: { caller.outcome.send(.failed(.cancelled)) })
        if outcome == .failed(.cancelled) {
            change { $0.cancel(number, to: id.peer.uid) }
            caller.attachments.giveUp()
        }
        return outcome
    }

    private func place(
        _ bytes: [UInt8], _ id: ActorID, _ caller: Caller, _ deadline: Moment?, _ now: Moment
    ) throws(ActorCallError) -> CallNumber {
        let uid = id.peer.uid
        let placed: (number: CallNumber, post: [UInt8]?)
        let (moment, isLeft): (Moment?, Bool)
        do throws(CallFault) {
            (placed, moment, isLeft) = try exchange.withLock { exchange throws(CallFault) in
                let placed = try exchange.place(bytes, to: uid, waiter: caller, deadline: deadline, now: now)
                // An actor that was checked in before this call can be found by the method it calls.
                guard exchange.isTelling, let bytes = placed.post else {
                    return (placed, exchange.earlierDeadline(), false)
                }
                exchange.leave(bytes, to: uid, placed.number, caller)
                return ((placed.number, nil), exchange.earlierDeadline(), true)
            }
        } catch {
            throw ActorCallError(error, id)
        }
        if let moment { timer.set(moment) }
        if isLeft { timer.wake() }
        if let bytes = placed.post { post(bytes, to: uid, .call(placed.number, caller)) }
        return placed.number
    }

    /// Returns the error of a registered type, or a description of it.
    private func thrown(_ name: String, _ coding: Coding, _ bytes: [UInt8], by peer: PeerID) -> any Error {
        guard let type = registry.withLock({ $0.error(named: name) }) else {
            return RemoteError(
                type: name, description: "an error of an unregistered type", peer: peer)
        }
        func decoded<Failure: Error & Codable>(_ type: Failure.Type) throws -> any Error {
            let error: Failure = try value(coding, bytes, from: peer)
            return error
        }
        do {
            return try decoded(type)
        } catch {
            return RemoteError(
                type: name, description: "an error that cannot be decoded: \(error)", peer: peer)
        }
    }

    func value<Value: Decodable>(
        _ coding: Coding, _ bytes: [UInt8], from peer: PeerID
    ) throws -> Value {
        try ValueCoding.decode(coding, bytes) { [CodingUserInfoKey.actorSystemKey: self, .sender: peer] }
    }
}

extension ActorCallError {
    fileprivate init(_ fault: CallFault, _ id: ActorID) {
        switch fault {
        case .notLinked: self.init(.notConnected, "\(id.peer) is not connected")
        case .ended(let reason):
            self.init(.ended, "the link to \(id.peer) ended before it answered: \(reason)", reason: reason)
        case .replaced: self.init(.replaced, "\(id.peer) has replaced its actor system")
        case .timedOut: self.init(timedOut: id)
        case .noSystem: self.init(.noSystem, "\(id.peer) has no actor system that responded")
        case .incompatible: self.init(.incompatible, "\(id.peer) has an actor system of another version")
        case .busy: self.init(.busy, "too many calls wait for an answer from \(id.peer)")
        case .tooLarge(let count, let limit):
            self.init(.tooLarge, "\(id.peer) accepts calls of at most \(limit) bytes, not \(count)")
        case .unreadable: self.init(.coding, "the answer of \(id) cannot be decoded")
        case .cancelled: self.init(.cancelled, "the call to \(id) was cancelled")
        }
    }

    fileprivate init(timedOut id: ActorID) {
        self.init(.timedOut, "call to \(id) timed out")
    }

    fileprivate init(_ failure: Envelope.Failure, _ text: String, _ id: ActorID) {
        let code: Code =
            switch failure {
            case .noSuchActor: .noSuchActor
            case .refused: .refused
            case .busy: .busy
            case .tooLarge: .tooLarge
            case .coding: .coding
            case .cancelled, .thrown: .cancelled
            case .timedOut: .timedOut
            }
        self.init(code, text.isEmpty ? "\(id): \(code.rawValue)" : "\(id): \(text)")
    }
}
