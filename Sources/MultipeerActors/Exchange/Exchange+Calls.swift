package import MultipeerCore

// MARK: this side's calls

extension Exchange {
    /// Accepts a call: from here to its end there is an entry for it. `bytes` are those of a CALL; its number is
    /// assigned here. With `post`, the caller sends these bytes now, as if they were an action; without, they are
    /// sent later.
    package mutating func place(
        _ bytes: consuming [UInt8], to uid: UID, waiter: Waiter, deadline: Moment?, now: Moment
    ) throws(CallFault) -> (number: CallNumber, post: [UInt8]?) {
        let (size, depth) = (bytes.count, Envelope.depth(of: bytes))
        let seen = look(at: uid) {
            ($0.isIncompatible, $0.hello, $0.share(for: size, at: depth), $0.mayWait(at: depth))
        }
        guard let (isIncompatible, hello, share, mayWait) = seen else { throw .notLinked }
        if isIncompatible { throw .incompatible }
        let longest = Int(clamping: hello?.longest ?? .max)
        if size > longest { throw .tooLarge(size, limit: longest) }
        guard ownCalls < limits.pending else { throw .busy }
        guard share != nil || mayWait && unsentBytes + size <= limits.pendingBytes else { throw .busy }
        lastNumber += 1
        let number = lastNumber
        for index in 0..<8 {
            bytes[Envelope.numberOffset + index] = UInt8(truncatingIfNeeded: number >> (56 - 8 * index))
        }
        let call = RemotePeerState<Waiter, Work>.Pending(size: size, waiter: waiter, deadline: deadline)
        ownCalls += 1
        let own = OwnCall(uid: uid, number: number)
        if let deadline { deadlines.insert(own, at: deadline) }
        if hello == nil { deadlines.insert(own, at: now + Self.timeLimit) }
        if let share {
            peerStates[uid]?.send(number, call, in: share)
            return (number, wired(bytes, for: uid))
        }
        unsentBytes += size
        peerStates[uid]?.enqueue(number, RemotePeerState.Waiting(call: call, bytes: bytes), at: depth)
        return (number, nil)
    }

    /// Returns the bytes of a call in the form that this peer can decode.
    private mutating func wired(_ bytes: consuming [UInt8], for uid: UID) -> [UInt8] {
        if look(at: uid, { $0.nesting == nil }) ?? true { Envelope.flatten(&bytes) }
        return bytes
    }

    /// Queues a call that was placed while other actions are pending: it is sent after them.
    package mutating func leave(_ bytes: [UInt8], to uid: UID, _ number: CallNumber, _ waiter: Waiter) {
        decideNews()
        actions.append(.send(bytes, uid, .call(number, waiter)))
    }

    /// Cancels a call whose caller no longer waits: the peer is notified, and no action settles it. Returns false
    /// when it has ended.
    @discardableResult
    package mutating func cancel(_ number: CallNumber, to uid: UID) -> Bool {
        guard let (_, wasSent) = remove(number, to: uid) else { return false }
        if wasSent {
            actions.append(.send(Envelope.cancel(number).bytes, uid, .notice))
        } else {
            // A large call may have blocked the calls after it.
            release(uid)
        }
        return true
    }

    /// Settles a call whose bytes were not sent: the link ended, or has no room for them.
    package mutating func notSent(_ number: CallNumber, to uid: UID, _ fault: CallFault) {
        settle(number, to: uid, .failed(fault))
    }

    /// Sends as many of the waiting calls as the peer accepts now.
    mutating func release(_ uid: UID) {
        while let next = peerStates[uid]?.next() {
            guard let share = next.share else {
                let longest = Int(clamping: peerStates[uid]?.hello?.longest ?? .max)
                settle(next.number, to: uid, .failed(.tooLarge(next.bytes.count, limit: longest)))
                continue
            }
            peerStates[uid]?.release(next.number, in: share)
            unsentBytes -= next.bytes.count
            // Actors that checked in before this call can be found by the method it calls.
            tellCheckIns()
            actions.append(.send(wired(next.bytes, for: uid), uid, .call(next.number, next.waiter)))
        }
        for number in peerStates[uid]?.overdeep ?? [] { settle(number, to: uid, .failed(.busy)) }
    }
}
