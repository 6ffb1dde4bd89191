package import MultipeerFraming
import MultipeerIntroduction

// MARK: what peers say

extension Exchange {
    /// One message with the mark, of a linked peer.
    package mutating func receive(_ bytes: Span<UInt8>, from uid: UID) {
        guard correspondents[uid] != nil else { return }
        do throws(EnvelopeFault) {
            let envelope = try Envelope(bytes)
            // Of a system of another version nothing is read but the HELLO of the next one.
            if correspondents[uid]?.isIncompatible == true, !envelope.isHello {
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
                guard correspondents[uid]?.checkIns.remove(checkIn) != nil else { return }
                actions.append(.left(checkIn, uid))
            case .bye:
                failCalls(to: uid, with: .noSystem) { _ in true }
                forget(uid)
                correspondents[uid]?.hello = nil
            }
        } catch {
            refuse(bytes, error, from: uid)
        }
    }

    /// What cannot be read changes nothing, except that nobody waits in vain for it.
    private mutating func refuse(_ bytes: Span<UInt8>, _ fault: EnvelopeFault, from uid: UID) {
        dropped += 1
        if fault == .otherVersion {
            correspondents[uid]?.isIncompatible = true
            return failCalls(to: uid, with: .incompatible) { _ in true }
        }
        switch Envelope.number(of: bytes) {
        case (isCall: true, let number)?: answer(number, .coding, "the call cannot be read", to: uid)
        case (isCall: false, let number)?:
            if pending[number]?.uid == uid { settle(number, .failed(.unreadable)) }
        case nil: break
        }
    }

    private mutating func receive(_ hello: Envelope.Hello, from uid: UID) {
        let before = correspondents[uid]?.hello
        if let before, before.incarnation != hello.incarnation {
            // Another system of the same session: what the one before had is gone with it.
            failCalls(to: uid, with: .replaced) { isUnsent in !isUnsent }
            forget(uid)
        }
        correspondents[uid]?.hello = hello
        correspondents[uid]?.isIncompatible = false
        if hello.known != incarnation { sayHello(to: uid, knowing: hello.incarnation) }
        if before?.incarnation != hello.incarnation {
            for checkIn in ownCheckIns.sorted(by: { $0.key < $1.key }) {
                actions.append(.send(Envelope.checkIn(checkIn).bytes, uid, call: nil))
            }
        }
        release(uid)
    }

    private mutating func receive(
        _ answer: Envelope.Answer, size: Int, to number: CallNumber, from uid: UID
    ) {
        // A peer answers the calls that were sent to it, and no others.
        guard let call = pending[number], call.uid == uid, call.unsent == nil else { return }
        settle(number, size <= limits.envelope ? .answered(answer) : .failed(.unreadable))
    }

    // MARK: the peer's calls

    private mutating func receive(_ call: Envelope.Call, size: Int, from uid: UID) {
        if correspondents[uid]?.wasCancelled(call.number) == true { return }
        guard correspondents[uid]?.incoming[call.number] == nil else {
            dropped += 1
            return
        }
        guard size <= limits.envelope else {
            return answer(call.number, .tooLarge, "this peer takes \(limits.envelope) bytes", to: uid)
        }
        // Twice what was announced: an answer may have been read there before its call has gone from the list here.
        let load = correspondents[uid]?.incomingLoad ?? Correspondent<Work>.Load()
        guard load.calls < 2 * limits.calls, load.bytes + size <= 2 * limits.callBytes else {
            return answer(call.number, .busy, "this peer has \(load.calls) calls in hand", to: uid)
        }
        correspondents[uid]?.incoming[call.number] = Correspondent.Incoming(size: size)
        correspondents[uid]?.incomingLoad.add(size)
        actions.append(
            .execute(
                call, uid,
                limit: min(limits.envelope, Int(clamping: correspondents[uid]?.hello?.longest ?? 1_024))))
    }

    private mutating func receiveCancel(_ number: CallNumber, from uid: UID) {
        if let work = correspondents[uid]?.cancel(number) { actions.append(.stop(work)) }
    }

    /// A call of a peer runs. Answers false when it was cancelled before, or is gone with its peer: then it has to stop.
    package mutating func began(_ number: CallNumber, of uid: UID, _ work: Work) -> Bool {
        guard let isCancelled = correspondents[uid]?.incoming[number]?.isCancelled else { return false }
        correspondents[uid]?.incoming[number]?.work = work
        return !isCancelled
    }

    /// A call of a peer is over, and its answer sent.
    package mutating func finished(_ number: CallNumber, of uid: UID) {
        guard let incoming = correspondents[uid]?.incoming.removeValue(forKey: number) else { return }
        correspondents[uid]?.incomingLoad.remove(incoming.size)
    }

    /// An answer for which nothing was executed.
    mutating func answer(_ number: CallNumber, _ failure: Envelope.Failure, _ text: String, to uid: UID) {
        actions.append(
            .send(Envelope.answer(number, .failure(failure, type: "", text: text)).bytes, uid, call: nil))
    }

    // MARK: checking in

    private mutating func receive(_ checkIn: Envelope.CheckIn, from uid: UID) {
        let isRoom = correspondents[uid].map { $0.checkIns.count < limits.checkIns } ?? false
        guard isRoom, correspondents[uid]?.checkIns.insert(checkIn).inserted == true else {
            dropped += 1
            return
        }
        actions.append(.arrived(checkIn, uid))
    }

    /// An actor of this side can be found from here on. False when it has checked in like that before.
    package mutating func checkIn(_ checkIn: Envelope.CheckIn) -> Bool {
        guard ownCheckIns.insert(checkIn).inserted else { return false }
        tell(.checkIn(checkIn))
        return true
    }

    package mutating func checkOut(_ checkIn: Envelope.CheckIn) {
        if ownCheckIns.remove(checkIn) != nil { tell(.checkOut(checkIn)) }
    }

    /// An actor of this side is gone.
    package mutating func checkOut(_ place: ActorID.Place) {
        for checkIn in ownCheckIns where checkIn.place == place { checkOut(checkIn) }
    }

    private mutating func tell(_ envelope: Envelope) {
        let bytes = envelope.bytes
        for (uid, correspondent) in correspondents where correspondent.hello != nil {
            actions.append(.send(bytes, uid, call: nil))
        }
    }
}

extension Envelope {
    fileprivate var isHello: Bool { if case .hello = self { true } else { false } }
}
