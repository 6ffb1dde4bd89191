package import MultipeerFraming
package import MultipeerIntroduction

// MARK: this side's calls

extension Exchange {
    /// Takes a call on: from here to its end there is an entry for it. `bytes` are those of a CALL, whose number is given
    /// here. With `post`, the caller sends these bytes now, as if it were an action; without, they go later.
    package mutating func place(
        _ bytes: consuming [UInt8], to uid: UID, waiter: Waiter, deadline: Moment?, now: Moment
    ) throws(CallFault) -> (number: CallNumber, post: [UInt8]?) {
        // A copy of the correspondent would make its tables be copied when they change.
        guard let isIncompatible = correspondents[uid]?.isIncompatible else { throw .notLinked }
        if isIncompatible { throw .incompatible }
        let hello = correspondents[uid]?.hello
        let longest = Int(clamping: hello?.longest ?? .max)
        if bytes.count > longest { throw .tooLarge(bytes.count, limit: longest) }
        guard pending.count < limits.pending else { throw .busy }
        lastNumber += 1
        let number = lastNumber
        for index in 0..<8 {
            bytes[Envelope.numberOffset + index] = UInt8(truncatingIfNeeded: number >> (56 - 8 * index))
        }
        let size = bytes.count
        let isSent = correspondents[uid].map { $0.isQueueEmpty && $0.takes(size) } ?? false
        if isSent {
            correspondents[uid]?.sent.add(size)
        } else {
            guard unsentBytes + size <= limits.pendingBytes else { throw .busy }
            unsentBytes += size
            correspondents[uid]?.enqueue(number)
        }
        pending[number] = Pending(
            uid: uid, size: size, waiter: waiter, deadline: deadline, unsent: isSent ? nil : bytes)
        if let deadline { deadlines.insert(number, at: deadline) }
        if hello == nil { deadlines.insert(number, at: now + Self.patience) }
        return (number, isSent ? bytes : nil)
    }

    /// Nobody waits for that call any more: the peer is told, and no action settles it. False when it is over already.
    @discardableResult
    package mutating func cancel(_ number: CallNumber) -> Bool {
        guard let call = remove(number) else { return false }
        if call.unsent == nil {
            actions.append(.send(Envelope.cancel(number).bytes, call.uid, call: nil))
        }
        return true
    }

    /// The bytes of the call were refused: the link ended under them, or has no room.
    package mutating func notSent(_ number: CallNumber, _ fault: CallFault) { settle(number, .failed(fault)) }

    /// Sends of the queue what the peer takes now.
    mutating func release(_ uid: UID) {
        while let number = correspondents[uid]?.next {
            guard let unsent = pending[number]?.unsent else {
                correspondents[uid]?.dequeue()
                continue
            }
            let longest = Int(clamping: correspondents[uid]?.hello?.longest ?? .max)
            if unsent.count > longest {
                correspondents[uid]?.dequeue()
                settle(number, .failed(.tooLarge(unsent.count, limit: longest)))
                continue
            }
            guard correspondents[uid]?.takes(unsent.count) == true else { return }
            correspondents[uid]?.dequeue()
            correspondents[uid]?.sent.add(unsent.count)
            pending[number]?.unsent = nil
            unsentBytes -= unsent.count
            actions.append(.send(unsent, uid, call: number))
        }
    }
}
