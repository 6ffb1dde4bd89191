extension Envelope {
    /// The bytes of one message of the session.
    package var bytes: [UInt8] {
        switch self {
        case .hello(let hello):
            var bytes = Envelope.beginning(.hello, capacity: 34)
            bytes.append(Envelope.version)
            bytes.append(number: hello.incarnation)
            bytes.append(number: hello.known)
            bytes.append(number: hello.calls)
            bytes.append(number: hello.bytes)
            bytes.append(number: hello.longest)
            return bytes
        case .call(let call):
            let size = call.arguments.reduce(0) { $0 + 4 + $1.count }
            var bytes = call.head(capacity: size)
            bytes.append(UInt8(truncatingIfNeeded: call.arguments.count))
            for argument in call.arguments {
                bytes.append(number: UInt32(truncatingIfNeeded: argument.count))
                bytes.append(contentsOf: argument)
            }
            call.appendDepth(to: &bytes)
            return bytes
        case .answer(let number, let answer): return answer.bytes(number)
        case .cancel(let number):
            var bytes = Envelope.beginning(.cancel, capacity: 13)
            bytes.append(number: number)
            return bytes
        case .checkIn(let checkIn): return checkIn.bytes(.checkIn)
        case .checkOut(let checkIn): return checkIn.bytes(.checkOut)
        case .bye(let incarnation):
            var bytes = Envelope.beginning(.bye, capacity: 13)
            bytes.append(number: incarnation)
            return bytes
        case .nesting(let calls):
            var bytes = Envelope.beginning(.nesting, capacity: 9)
            bytes.append(number: calls)
            return bytes
        }
    }

    /// The offset of the number of a call, which is set after the encoding.
    static let numberOffset = 5
    private static let kindOffset = 4

    /// Returns the depth of the call with these bytes.
    static func depth(of call: [UInt8]) -> UInt8 {
        call[kindOffset] == Kind.innerCall.rawValue ? call.last ?? 0 : 0
    }

    /// Turns an INNER CALL into the CALL that every system can decode.
    static func flatten(_ call: inout [UInt8]) {
        guard depth(of: call) > 0 else { return }
        call[kindOffset] = Kind.call.rawValue
        call.removeLast()
    }

    fileprivate static func beginning(_ kind: Kind, capacity: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(capacity)
        bytes.append(number: mark)
        bytes.append(kind.rawValue)
        return bytes
    }
}

extension Envelope.Call {
    /// Returns everything before the count of the arguments, with capacity for that many bytes more.
    func head(capacity: Int) -> [UInt8] {
        let kind: Envelope.Kind = depth == 0 ? .call : .innerCall
        var bytes = Envelope.beginning(kind, capacity: 65 + target.utf8.count + capacity)
        bytes.append(number: number)
        bytes.append(number: budget ?? 0)
        bytes.append(coding.rawValue)
        bytes.append(place: place)
        bytes.append(text: target)
        bytes.append(UInt8(truncatingIfNeeded: generics.count))
        for generic in generics { bytes.append(text: generic) }
        return bytes
    }

    /// Appends the part after the arguments. It is the last, so that it can be left out for a peer that does not know
    /// it.
    func appendDepth(to bytes: inout [UInt8]) {
        if depth > 0 { bytes.append(depth) }
    }
}

extension Envelope.Answer {
    fileprivate func bytes(_ number: CallNumber) -> [UInt8] {
        switch self {
        case .value(let coding, let value):
            var bytes = Envelope.beginning(.value, capacity: 14 + value.count)
            bytes.append(number: number)
            bytes.append(coding.rawValue)
            bytes.append(contentsOf: value)
            return bytes
        case .done:
            var bytes = Envelope.beginning(.done, capacity: 13)
            bytes.append(number: number)
            return bytes
        case .error(let type, let coding, let value):
            var bytes = Envelope.beginning(.error, capacity: 16 + type.utf8.count + value.count)
            bytes.append(number: number)
            bytes.append(coding.rawValue)
            bytes.append(text: type)
            bytes.append(contentsOf: value)
            return bytes
        case .failure(let failure, let type, let text):
            var bytes = Envelope.beginning(.failure, capacity: 18 + type.utf8.count + text.utf8.count)
            bytes.append(number: number)
            bytes.append(failure.rawValue)
            bytes.append(text: type)
            bytes.append(text: text)
            return bytes
        }
    }
}

extension Envelope.CheckIn {
    fileprivate func bytes(_ kind: Envelope.Kind) -> [UInt8] {
        var bytes = Envelope.beginning(kind, capacity: 32 + key.utf8.count + type.utf8.count)
        bytes.append(text: key)
        bytes.append(text: type)
        bytes.append(place: place)
        return bytes
    }
}

extension [UInt8] {
    mutating func append(number: some FixedWidthInteger & UnsignedInteger) {
        var shift = number.bitWidth
        while shift > 0 {
            shift -= 8
            append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }

    /// Appends the text with two bytes of length before it; the caller has checked that it is not longer.
    fileprivate mutating func append(text: String) {
        let utf8 = text.utf8
        append(number: UInt16(truncatingIfNeeded: utf8.count))
        append(contentsOf: utf8)
    }

    fileprivate mutating func append(place: ActorID.Place) {
        switch place {
        case .number(let number, let incarnation):
            append(0)
            append(number: incarnation)
            append(number: number)
        case .name(let name):
            append(1)
            append(text: name)
        }
    }
}
