package import MultipeerCore
import MultipeerFraming

// MARK: messages of peers

extension Exchange {
    /// Processes one message with the mark, from a linked peer.
    package mutating func receive(_ bytes: Span<UInt8>, from uid: UID) {
        guard let isIncompatible = look(at: uid, { $0.isIncompatible }) else { return }
        do throws(EnvelopeFault) {
            let envelope = try Envelope(bytes)
            // From a system of another version, only the HELLO of its successor is decoded.
            if isIncompatible, !envelope.isHello {
                dropped += 1
                return
            }
            switch envelope {
            case .hello(let hello): receive(hello, from: uid)
            case .call(let call): receive(call, size: bytes.count, from: uid)
            case .answer(let number, let answer):
                receive(answer, size: bytes.count, to: number, from: uid)
            case .cancel(let number): receiveCancel(number, from: uid)
            case .checkIn(let checkIn): receive(checkIn, from: uid)
            case .checkOut(let checkIn):
                guard peerStates[uid]?.checkIns.remove(checkIn) != nil else { return }
                if let peer = peerStates[uid]?.peer { actions.append(.left(checkIn, peer)) }
            case .bye(let incarnation):
                // Ignored if it is from the previous system, and arrived after the HELLO of the next one.
                guard peerStates[uid]?.hello?.incarnation == incarnation else { return }
                systemEnded(at: uid, sent: .noSystem, waiting: .noSystem)
            case .nesting(let calls): receiveNesting(calls, from: uid)
            }
        } catch {
            refuse(bytes, error, from: uid)
        }
    }

    /// Ignores what cannot be decoded, but answers a call, or fails the local call that it answers, so that no caller
    /// waits for its timeout.
    private mutating func refuse(_ bytes: Span<UInt8>, _ fault: EnvelopeFault, from uid: UID) {
        dropped += 1
        if fault == .otherVersion {
            if peerStates[uid]?.isIncompatible == true { return }
            peerStates[uid]?.isIncompatible = true
            return systemEnded(at: uid, sent: .replaced, waiting: .incompatible)
        }
        switch Envelope.number(of: bytes) {
        case (isCall: true, let number)?: answer(number, .coding, "the call cannot be decoded", to: uid)
        case (isCall: false, let number)?:
            if peerStates[uid]?.sent[number] != nil { settle(number, to: uid, .failed(.unreadable)) }
        case nil: break
        }
    }

    private mutating func receive(_ hello: Envelope.Hello, from uid: UID) {
        let before = peerStates[uid]?.hello
        let isNew = before?.incarnation != hello.incarnation
        if isNew {
            if before != nil {
                // Another system of the same session: everything of the previous one is gone.
                systemEnded(at: uid, sent: .replaced, waiting: nil)
            }
            let systems = peerStates[uid]?.systems ?? 0
            guard systems < Self.systemsAtMost else {
                dropped += 1
                return failWaiting(to: uid, with: .noSystem)
            }
            peerStates[uid]?.systems = systems + 1
        }
        peerStates[uid]?.hello = hello
        peerStates[uid]?.isIncompatible = false
        let pendingHelloReply = peerStates[uid]?.pendingHelloReply
        if isNew || pendingHelloReply == .checkIns {
            peerStates[uid]?.pendingHelloReply = .checkIns
        } else if hello.known != incarnation {
            peerStates[uid]?.pendingHelloReply = .hello
        }
        if pendingHelloReply == nil, peerStates[uid]?.pendingHelloReply != nil {
            pendingHelloReplies.append(uid)
        }
        release(uid)
    }

    /// Records how many nested calls the peer's system accepts at each depth, in addition to the others.
    private mutating func receiveNesting(_ calls: UInt32, from uid: UID) {
        guard calls > 0, peerStates[uid]?.hello != nil else {
            dropped += 1
            return
        }
        peerStates[uid]?.nesting = calls
        release(uid)
    }

    /// At most how many systems one peer may have in turn over one link: all local check-ins are sent to each.
    private static var systemsAtMost: Int { 1_024 }

    /// Decides which changes since the last actions are sent to peers.
    mutating func decideNews() {
        tellCheckIns()
        greet()
    }

    /// Answers HELLOs: with this side's own where it is not known, and for a new system with all check-ins.
    private mutating func greet() {
        if !pendingHelloReplies.isEmpty { hasNews = true }
        for uid in pendingHelloReplies {
            let pendingHelloReply = peerStates[uid]?.pendingHelloReply
            peerStates[uid]?.pendingHelloReply = nil
            guard let pendingHelloReply, let hello = peerStates[uid]?.hello else { continue }
            // Waiting calls go after the HELLO: with it the peer knows how long its answers may be.
            defer { release(uid) }
            if hello.known != incarnation {
                actions.append(.send(self.hello(knowing: hello.incarnation), uid, .notice))
            }
            guard pendingHelloReply == .checkIns else { continue }
            let nesting = Envelope.nesting(UInt32(clamping: limits.nestedCalls))
            actions.append(.send(nesting.bytes, uid, .notice))
            if peerStates[uid]?.isOwn == true { continue }
            for checkIn in ownCheckIns.values.joined().sorted() {
                actions.append(.send(Envelope.checkIn(checkIn).bytes, uid, .notice))
            }
        }
        pendingHelloReplies = []
    }

    private mutating func receive(
        _ answer: Envelope.Answer, size: Int, to number: CallNumber, from uid: UID
    ) {
        // A peer can answer only the calls that were sent to it.
        guard look(at: uid, { $0.sent.keys.contains(number) }) == true else { return }
        settle(number, to: uid, size <= limits.envelope ? .answered(answer) : .failed(.unreadable))
    }

    // MARK: the peer's calls

    private mutating func receive(_ call: Envelope.Call, size: Int, from uid: UID) {
        if peerStates[uid]?.wasCancelled(call.number) == true { return }
        let seen = look(at: uid) { ($0.peer, $0.generation, $0.executions.keys.contains(call.number)) }
        guard let (peer, generation, isThere) = seen, !isThere else {
            dropped += 1
            return
        }
        guard size <= limits.envelope else {
            return answer(call.number, .tooLarge, "this peer accepts \(limits.envelope) bytes", to: uid)
        }
        // Twice what was announced: an answer may arrive there before its call has been removed here.
        let (isInner, load) = (call.depth > 0, inHand(of: uid))
        guard limits.mayTake(size, beside: load, times: 2, isInner: isInner) else {
            return answer(call.number, .busy, "this peer has \(load.all.calls) calls in progress", to: uid)
        }
        // Calls of disconnected peers are bounded by what eight peers may have, since a peer can return under new identities.
        guard limits.mayTake(1, beside: orphanedCalls.load, times: 16, isInner: isInner) else {
            let text = "\(orphanedCalls.load.all.calls) calls of disconnected peers still run"
            return answer(call.number, .busy, text, to: uid)
        }
        peerStates[uid]?.executions[call.number] = RemotePeerState.Execution(size: size, isInner: isInner)
        peerStates[uid]?.load.add(size, isInner: isInner)
        let incoming = IncomingCall(
            peer: peer, number: call.number, generation: generation, isInner: isInner)
        actions.append(.execute(call, incoming))
    }

    /// Returns the load of all calls of a peer, including those from before it was disconnected.
    private mutating func inHand(of uid: UID) -> IncomingLoad {
        (look(at: uid) { $0.load } ?? IncomingLoad()) + orphanedCalls[uid]
    }

    /// Returns how many bytes an answer to that peer may have.
    package func longestAnswer(to uid: UID) -> Int {
        guard let hello = peerStates[uid]?.hello else { return Envelope.Limit.shortest }
        return min(limits.envelope, Int(clamping: hello.longest))
    }

    private mutating func receiveCancel(_ number: CallNumber, from uid: UID) {
        if let work = peerStates[uid]?.cancel(number) { actions.append(.stop(work)) }
    }

    /// Records that a call of a peer runs. Returns false when it was cancelled before, has ended, or its peer is
    /// gone: then the caller must stop it.
    package mutating func began(_ call: IncomingCall, _ work: Work) -> Bool {
        guard isCurrent(call) else { return false }
        return look(at: call.peer.uid) { one in
            one.executions[call.number]?.work = work
            return one.executions[call.number]?.isCancelled == false
        } == true
    }

    /// Records that the answer to a call of a peer waits for room: its bytes count as in progress like those of the
    /// call. Returns false, without recording it, when there is no quota left for it.
    package mutating func answerMayWait(_ size: Int, for call: IncomingCall) -> Bool {
        let load = inHand(of: call.peer.uid)
        // A single one always may: it is no longer than an envelope.
        guard load.all.calls <= 1 || limits.mayGrow(load, by: size, isInner: call.isInner) else {
            return false
        }
        answerWaits(size, for: call)
        return true
    }

    /// Records that `size` more bytes of the answer wait, or fewer if it is negative.
    package mutating func answerWaits(_ size: Int, for call: IncomingCall) {
        guard isCurrent(call), peerStates[call.peer.uid]?.executions[call.number] != nil else { return }
        peerStates[call.peer.uid]?.executions[call.number]?.size += size
        peerStates[call.peer.uid]?.load.grow(by: size, isInner: call.isInner)
    }

    /// Removes a call of a peer after its answer was sent.
    package mutating func finished(_ call: IncomingCall) {
        guard isCurrent(call) else { return orphanedCalls.remove(call) }
        let uid = call.peer.uid
        guard let execution = peerStates[uid]?.executions.removeValue(forKey: call.number) else { return }
        peerStates[uid]?.load.remove(execution.size, isInner: execution.isInner)
    }

    /// Returns whether the call came from the current system over the current link.
    private mutating func isCurrent(_ call: IncomingCall) -> Bool {
        look(at: call.peer.uid) { $0.generation } == call.generation
    }

    /// Sends an answer for a call that was not executed.
    mutating func answer(_ number: CallNumber, _ failure: Envelope.Failure, _ text: String, to uid: UID) {
        actions.append(.send(Envelope.refusal(number, failure, text).bytes, uid, .refusal))
    }

    // MARK: checking in

    private mutating func receive(_ checkIn: Envelope.CheckIn, from uid: UID) {
        let isRoom = peerStates[uid].map { $0.checkIns.count < limits.checkIns } ?? false
        guard isRoom, peerStates[uid]?.checkIns.insert(checkIn).inserted == true else {
            dropped += 1
            return
        }
        if let peer = peerStates[uid]?.peer { actions.append(.arrived(checkIn, peer)) }
    }

    /// Makes a local actor visible. Returns false when it has checked in like that before. For this side itself,
    /// there are no actions.
    package mutating func checkIn(_ checkIn: Envelope.CheckIn) -> Bool {
        guard ownCheckIns[checkIn.place, default: []].insert(checkIn).inserted else { return false }
        changedCheckIns.append(checkIn, false)
        return true
    }

    /// Reverts a check-in. Returns false when there is none like it.
    package mutating func checkOut(_ checkIn: Envelope.CheckIn) -> Bool {
        guard ownCheckIns[checkIn.place]?.remove(checkIn) != nil else { return false }
        if ownCheckIns[checkIn.place]?.isEmpty == true { ownCheckIns[checkIn.place] = nil }
        changedCheckIns.append(checkIn, true)
        return true
    }

    /// Removes a released local actor, and returns its check-ins.
    package mutating func checkOut(_ place: ActorID.Place) -> [Envelope.CheckIn] {
        let checkIns = (ownCheckIns.removeValue(forKey: place) ?? []).sorted()
        for checkIn in checkIns { changedCheckIns.append(checkIn, true) }
        return checkIns
    }

    /// Sends the changes of check-ins to peers, check-outs first, so that no peer's limit is exceeded.
    mutating func tellCheckIns() {
        if !changedCheckIns.isEmpty { hasNews = true }
        var isIn: [Envelope.CheckIn] = []
        while let (checkIn, wasIn) = changedCheckIns.removeFirst() {
            switch (wasIn, ownCheckIns[checkIn.place]?.contains(checkIn) == true) {
            case (true, false):
                // Also to peers that have not answered with a new HELLO: the previous system may have gone after the
                // check-in.
                tell(.checkOut(checkIn)) { $0.systems > 0 }
            case (false, true): isIn.append(checkIn)
            case (true, true), (false, false): break
            }
        }
        // A peer whose HELLO is answered now receives all check-ins with it.
        for checkIn in isIn {
            tell(.checkIn(checkIn)) { $0.hello != nil && $0.pendingHelloReply != .checkIns }
        }
    }

    private mutating func tell(
        _ envelope: Envelope, where isMeant: (RemotePeerState<Waiter, Work>) -> Bool
    ) {
        let bytes = envelope.bytes
        for (uid, peerState) in peerStates.sorted(by: { $0.key < $1.key })
        where !peerState.isOwn && isMeant(peerState) {
            actions.append(.send(bytes, uid, .notice))
        }
    }
}

extension Envelope {
    fileprivate var isHello: Bool { if case .hello = self { true } else { false } }
}
