import Distributed
import MultipeerFraming
import Multipeer
import MultipeerTransport

// MARK: incoming calls

extension PeerActorSystem {
    /// Begins a call of a peer, or returns why not. Nothing of it is decoded before its target is known to be
    /// allowed.
    func begin(_ call: Envelope.Call, as incoming: IncomingCall) -> Task<Void, Never>? {
        guard let actor = localActors.find(call.place) else {
            return end(incoming, .noSuchActor, "no such actor")
        }
        if configuration.checksTargets {
            guard let allowList = allowList(of: actor) else {
                return end(incoming, .refused, "peers cannot call actors of this type")
            }
            if let refusalReason = allowList.refusalReason(about: call.target, call.generics, on: actor) {
                return end(incoming, .refused, refusalReason)
            }
        }
        guard let executor = configuration.executor else {
            return Task.followingDetached { await self.execute(call, as: incoming, on: actor) }
        }
        return Task.detached(executorPreference: executor) {
            await self.execute(call, as: incoming, on: actor)
        }
    }

    private func end(
        _ call: IncomingCall, _ failure: Envelope.Failure, _ text: String
    ) -> Task<Void, Never>? {
        refuse(call, failure, text)
        change { $0.finished(call) }
        return nil
    }

    private func refuse(_ call: IncomingCall, _ failure: Envelope.Failure, _ text: String) {
        post(Envelope.refusal(call.number, failure, text).bytes, to: call.peer.uid, .refusal)
    }

    private func execute(
        _ call: Envelope.Call, as incoming: IncomingCall, on actor: some DistributedActor
    ) async {
        // Cancelled before it began, possibly with all other calls of its peer.
        if Task.isCancelled { return change { $0.finished(incoming) } }
        let handler = CallResultHandler(self, incoming, call.coding)
        let context = CallContext(
            deadline: call.budget.map { EventLoop.currentMoment() + .milliseconds(Int64($0)) },
            caller: incoming.peer, depth: call.depth == .max ? .max : call.depth + 1)
        do {
            try await PeerActorSystem.$context.withValue(context) {
                var decoder = CallDecoder(self, call, incoming.peer)
                try await executeDistributedTarget(
                    on: actor, target: RemoteCallTarget(call.target), invocationDecoder: &decoder,
                    handler: handler)
            }
        } catch {
            await handler.give(
                Envelope.Answer.failure(.coding, type: "", text: "\(error)".prefix(utf8: Envelope.Limit.text))
            )
        }
        change { $0.finished(incoming) }
    }

    /// Sends an answer, waiting for room: the call counts as in progress until then, and the answer with it.
    func answer(
        _ answer: Envelope.Answer, with attachments: Attachments? = nil, to call: IncomingCall
    ) async {
        // The peer that cancelled it does not wait for an answer.
        if Task.isCancelled { return }
        let bytes = Envelope.answer(call.number, answer).bytes
        // Every peer accepts that much, and its own limit may arrive only after the call.
        let limit =
            bytes.count <= Envelope.Limit.shortest
            ? bytes.count : exchange.withLock { $0.longestAnswer(to: call.peer.uid) }
        if bytes.count > limit {
            let shorter = Envelope.answer(call.number, answer.shortened(from: bytes.count, to: limit))
            await self.answer(shorter.bytes, to: call)
            return
        }
        guard await self.answer(bytes, to: call), let attachments else { return }
        await transfers.send(attachments, to: call.peer) { weight in
            change { $0.answerWaits(weight, for: call) }
        }
    }

    /// Returns false when the answer reaches no peer.
    @discardableResult
    private func answer(_ bytes: [UInt8], to call: IncomingCall) async -> Bool {
        let uid = call.peer.uid
        do throws(SendFault) {
            if uid == peer.uid {
                post(bytes, to: uid, .refusal)
            } else if try !session.driver.queues.offer(bytes, to: uid, fromHandler: true) {
                let hasRoom = exchange.withLock { $0.answerMayWait(bytes.count, for: call) }
                guard hasRoom else {
                    refuse(call, .busy, "too many unread answers")
                    return false
                }
                try await session.driver.queues.send(bytes, to: uid, fromHandler: true)
            }
            return true
        } catch .tooLong(let count, let limit) {
            refuse(call, .tooLarge, "the answer has \(count) bytes; the limit is \(limit)")
            return false
        } catch {
            // The link ended, and the caller was notified; or the call was cancelled, and no caller waits.
            return false
        }
    }
}

extension Envelope.Answer {
    /// Returns the replacement for an answer that is too long. A failure only loses the end of its text, since every
    /// peer accepts at least 1,024 bytes.
    fileprivate func shortened(from count: Int, to limit: Int) -> Envelope.Answer {
        if case .failure(let failure, let type, let text) = self {
            return .failure(
                failure, type: type, text: text.prefix(utf8: max(0, text.utf8.count - (count - limit))))
        }
        return .failure(
            .tooLarge, type: "", text: "the answer has \(count) bytes; the limit is \(limit)")
    }
}

extension String {
    /// Returns as many whole characters as fit into that many bytes.
    func prefix(utf8 limit: Int) -> String {
        if utf8.count <= limit { return self }
        var end = utf8.index(utf8.startIndex, offsetBy: limit)
        while end > startIndex, end.samePosition(in: unicodeScalars) == nil { end = utf8.index(before: end) }
        return String(self[..<end])
    }
}
