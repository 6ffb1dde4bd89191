import Distributed
import MultipeerFraming
import MultipeerIntroduction
import Multipeer
import MultipeerTransport

// MARK: being called

extension PeerActorSystem {
    /// Begins a call of a peer, or answers why not. Nothing of it is decoded before its target is known to be allowed.
    func begin(_ call: Envelope.Call, from uid: UID, _ limit: Int) -> Task<Void, Never>? {
        guard let caller = acquaintance(uid) else { return nil }
        guard let actor = residents.find(call.place) else {
            return refuse(call, .noSuchActor, "there is no such actor", uid)
        }
        if configuration.checksTargets {
            guard let permit = permit(of: actor) else {
                return refuse(call, .refused, "actors of this type are not called by peers", uid)
            }
            if let complaint = permit.complaint(about: call.target, call.generics, on: actor) {
                return refuse(call, .refused, complaint, uid)
            }
        }
        guard let executor = configuration.executor else {
            return Task { await self.execute(call, on: actor, for: caller, limit) }
        }
        return Task(executorPreference: executor) { await self.execute(call, on: actor, for: caller, limit) }
    }

    private func refuse(
        _ call: Envelope.Call, _ failure: Envelope.Failure, _ text: String, _ uid: UID
    ) -> Task<Void, Never>? {
        let answer = Envelope.answer(call.number, .failure(failure, type: "", text: text))
        post(answer.bytes, to: uid, call: nil)
        change { $0.finished(call.number, of: uid) }
        return nil
    }

    private func execute(
        _ call: Envelope.Call, on actor: some DistributedActor, for caller: PeerID, _ limit: Int
    ) async {
        // Cancelled before it began, perhaps with all others of its peer.
        if Task.isCancelled { return change { $0.finished(call.number, of: caller.uid) } }
        let handler = CallResultHandler(self, call, caller, limit)
        let context = CallContext(
            deadline: call.budget.map { EventLoop.currentMoment() + .milliseconds(Int64($0)) },
            caller: caller)
        do {
            try await PeerActorSystem.$context.withValue(context) {
                var decoder = CallDecoder(self, call, caller)
                try await executeDistributedTarget(
                    on: actor, target: RemoteCallTarget(call.target), invocationDecoder: &decoder,
                    handler: handler)
            }
        } catch {
            await handler.give(
                Envelope.Answer.failure(.coding, type: "", text: "\(error)".prefix(utf8: Envelope.Limit.text))
            )
        }
        change { $0.finished(call.number, of: caller.uid) }
    }

    /// Sends an answer, waiting for room: the call counts as in hand until then.
    func answer(
        _ answer: Envelope.Answer, to number: CallNumber, of caller: PeerID, _ limit: Int
    ) async {
        // Whoever has cancelled it waits for nothing.
        if Task.isCancelled { return }
        var bytes = Envelope.answer(number, answer).bytes
        if bytes.count > limit {
            let text = "the answer has \(bytes.count) bytes, and \(limit) are taken"
            bytes = Envelope.answer(number, .failure(.tooLarge, type: "", text: text)).bytes
        }
        if caller.uid == peer.uid { return post(bytes, to: caller.uid, call: nil) }
        do throws(SendFault) {
            try await session.driver.send(bytes, to: caller.uid)
        } catch {
            // The link ended: whoever called knows. Or the call was cancelled: nobody waits.
            return
        }
    }
}

extension String {
    /// As many whole characters as fit into so many bytes.
    func prefix(utf8 limit: Int) -> String {
        if utf8.count <= limit { return self }
        var end = utf8.index(utf8.startIndex, offsetBy: limit)
        while end > startIndex, end.samePosition(in: unicodeScalars) == nil { end = utf8.index(before: end) }
        return String(self[..<end])
    }
}
