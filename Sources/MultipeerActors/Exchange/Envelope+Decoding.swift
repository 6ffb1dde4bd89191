import MultipeerFraming

extension Envelope {
    /// Decodes one message. Throws for anything but exactly one envelope; a length allocates nothing before the bytes
    /// are there.
    package init(_ bytes: Span<UInt8>) throws(EnvelopeFault) {
        var reader = EnvelopeReader()
        do throws(FramingError) {
            guard try reader.cursor.integer(UInt32.self, in: bytes) == Envelope.mark else { throw .truncated }
        } catch {
            throw .malformed
        }
        guard let kind = Kind(rawValue: try reader.integer(in: bytes)) else { throw .unknownKind }
        switch kind {
        case .hello: self = .hello(try reader.hello(in: bytes))
        case .call: self = .call(try reader.call(in: bytes))
        case .innerCall:
            var call = try reader.call(in: bytes)
            call.depth = try reader.integer(in: bytes)
            guard call.depth > 0 else { throw .malformed }
            self = .call(call)
        case .value:
            let number = try reader.integer(CallNumber.self, in: bytes)
            self = .answer(number, .value(try reader.coding(in: bytes), try reader.rest(in: bytes)))
        case .done: self = .answer(try reader.integer(in: bytes), .done)
        case .error:
            let number = try reader.integer(CallNumber.self, in: bytes)
            let coding = try reader.coding(in: bytes)
            let type = try reader.text(1...Limit.type, in: bytes)
            self = .answer(number, .error(type: type, coding, try reader.rest(in: bytes)))
        case .failure:
            let number = try reader.integer(CallNumber.self, in: bytes)
            guard let failure = Failure(rawValue: try reader.integer(in: bytes)) else { throw .malformed }
            let type = try reader.text(0...Limit.type, in: bytes)
            let text = try reader.text(0...Limit.text, in: bytes)
            self = .answer(number, .failure(failure, type: type, text: text))
        case .cancel: self = .cancel(try reader.integer(in: bytes))
        case .checkIn: self = .checkIn(try reader.checkIn(in: bytes))
        case .checkOut: self = .checkOut(try reader.checkIn(in: bytes))
        case .bye: self = .bye(try reader.integer(in: bytes))
        case .nesting: self = .nesting(try reader.integer(in: bytes))
        }
        guard reader.cursor.remaining(in: bytes) == 0 else { throw .malformed }
    }

    /// Returns the number of a call or an answer that cannot be decoded otherwise; nil when there is none.
    static func number(of bytes: Span<UInt8>) -> (isCall: Bool, CallNumber)? {
        guard bytes.count >= numberOffset + 8, let kind = Kind(rawValue: bytes[4]) else { return nil }
        var number: CallNumber = 0
        for index in numberOffset..<(numberOffset + 8) { number = number << 8 | CallNumber(bytes[index]) }
        switch kind {
        case .call, .innerCall: return (true, number)
        case .value, .done, .error, .failure: return (false, number)
        case .hello, .cancel, .checkIn, .checkOut, .bye, .nesting: return nil
        }
    }
}

/// Why bytes are not an envelope.
package enum EnvelopeFault: Error, Equatable, Sendable {
    /// Something is missing, longer than allowed, or not valid text.
    case malformed
    /// A kind of a later version of the protocol.
    case unknownKind
    /// A HELLO of another version, whatever follows.
    case otherVersion
}

/// Reads the parts of an envelope, one after the other.
private struct EnvelopeReader {
    var cursor = ByteCursor()

    mutating func integer<Integer: FixedWidthInteger & UnsignedInteger>(
        _ type: Integer.Type = Integer.self, in bytes: Span<UInt8>
    ) throws(EnvelopeFault) -> Integer {
        do throws(FramingError) { return try cursor.integer(in: bytes) } catch { throw .malformed }
    }

    mutating func array(_ count: Int, in bytes: Span<UInt8>) throws(EnvelopeFault) -> [UInt8] {
        do throws(FramingError) { return try cursor.array(count, in: bytes) } catch { throw .malformed }
    }

    mutating func rest(in bytes: Span<UInt8>) throws(EnvelopeFault) -> [UInt8] {
        try array(cursor.remaining(in: bytes), in: bytes)
    }

    /// Reads a text, after checking that its bytes are there.
    mutating func text(_ range: ClosedRange<Int>, in bytes: Span<UInt8>) throws(EnvelopeFault) -> String {
        let count = Int(try integer(UInt16.self, in: bytes))
        guard range.contains(count) else { throw .malformed }
        do {
            let place = try cursor.skip(count, in: bytes)
            return String(copying: try UTF8Span(validating: bytes.extracting(place)))
        } catch {
            throw .malformed
        }
    }

    mutating func coding(in bytes: Span<UInt8>) throws(EnvelopeFault) -> Coding {
        guard let coding = Coding(rawValue: try integer(in: bytes)) else { throw .malformed }
        return coding
    }

    mutating func place(in bytes: Span<UInt8>) throws(EnvelopeFault) -> ActorID.Place {
        switch try integer(UInt8.self, in: bytes) {
        case 0:
            let incarnation = try integer(UInt64.self, in: bytes)
            return .number(try integer(in: bytes), incarnation: incarnation)
        case 1: return .name(try text(1...255, in: bytes))
        default: throw .malformed
        }
    }

    mutating func hello(in bytes: Span<UInt8>) throws(EnvelopeFault) -> Envelope.Hello {
        let version = try integer(UInt8.self, in: bytes)
        guard version == Envelope.version else { throw .otherVersion }
        let incarnation = try integer(UInt64.self, in: bytes)
        let known = try integer(UInt64.self, in: bytes)
        let (calls, size) = (try integer(UInt32.self, in: bytes), try integer(UInt32.self, in: bytes))
        let longest = try integer(UInt32.self, in: bytes)
        guard incarnation != 0, calls > 0, longest >= 1_024, size >= longest else { throw .malformed }
        return Envelope.Hello(
            incarnation: incarnation, known: known, calls: calls, bytes: size, longest: longest)
    }

    mutating func call(in bytes: Span<UInt8>) throws(EnvelopeFault) -> Envelope.Call {
        let number = try integer(CallNumber.self, in: bytes)
        let budget = try integer(UInt32.self, in: bytes)
        let coding = try coding(in: bytes)
        let place = try place(in: bytes)
        let target = try text(1...Envelope.Limit.target, in: bytes)
        var call = Envelope.Call(
            number: number, budget: budget == 0 ? nil : budget, coding: coding, place: place, target: target)
        let generics = Int(try integer(UInt8.self, in: bytes))
        guard generics <= Envelope.Limit.generics else { throw .malformed }
        for _ in 0..<generics { call.generics.append(try text(1...Envelope.Limit.generic, in: bytes)) }
        let arguments = Int(try integer(UInt8.self, in: bytes))
        guard arguments <= Envelope.Limit.arguments else { throw .malformed }
        for _ in 0..<arguments {
            let count = Int(clamping: try integer(UInt32.self, in: bytes))
            call.arguments.append(try array(count, in: bytes))
        }
        return call
    }

    mutating func checkIn(in bytes: Span<UInt8>) throws(EnvelopeFault) -> Envelope.CheckIn {
        let key = try text(1...Envelope.Limit.key, in: bytes)
        let type = try text(1...Envelope.Limit.type, in: bytes)
        return Envelope.CheckIn(key: key, type: type, place: try place(in: bytes))
    }
}
