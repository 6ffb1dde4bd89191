// Runs the vectors of frames, fields and HELLO on a 32-bit machine without an operating system: proof that the
// module needs neither Foundation nor 64-bit integers. The script compiles this file together with the
// module's own sources.

struct FrameVector {
    let id: StaticString
    let open: Bool
    let hex: StaticString
    /// A byte, repeated that many times after `hex`.
    let append: (byte: UInt8, count: Int)
    let splits: [Int]
    /// A payload from `append` has no hex.
    let frames: [(kind: UInt8, channel: UInt32, length: Int, hex: StaticString)]
    let skipped: Int
    let fails: Bool
}

struct FieldVector {
    let id: StaticString
    let known: [UInt16]
    let repeatable: [UInt16]
    let hex: StaticString
    let fields: [(type: UInt16, hex: StaticString)]
    let fails: Bool
}

struct HelloVector {
    let id: StaticString
    let hex: StaticString
    /// The close code of the refusal.
    let code: UInt16?
}

/// Takes frames as a link would, as far as their form goes.
struct VectorSink: FrameSink {
    let order: FrameContext
    var frames: [(header: FrameHeader, payload: [UInt8])] = []
    var wrong = false
    var closed = false
    var frameContext: FrameContext? { order }
    var frameLimit: Int { order == .open ? Limits.frame : Limits.frameBeforeSelect }
    var wantsFrames: Bool { !closed && !wrong }

    mutating func receive(_ header: FrameHeader, _ payload: Span<UInt8>) {
        guard VectorSink.reads(header, payload) else {
            wrong = true
            return
        }
        frames.append((header, [UInt8](copying: payload)))
        closed = header.kind == .close
    }

    /// HELLO has vectors of its own: those of frames have one that is only as long as it may be.
    private static func reads(_ header: FrameHeader, _ payload: Span<UInt8>) -> Bool {
        if header.kind == .hello { return true }
        do throws(FramingError) {
            var buffer = ByteBuffer()
            try Frame(header, payload).encode(into: &buffer)
            return buffer.count == FrameHeader.byteCount + payload.count
        } catch {
            return false
        }
    }
}

func bytes(_ hex: StaticString) -> [UInt8] {
    func digit(_ character: UInt8) -> UInt8 { character < 0x3A ? character - 0x30 : character - 0x57 }
    var bytes: [UInt8] = []
    let text = unsafe UnsafeBufferPointer(start: hex.utf8Start, count: hex.utf8CodeUnitCount)
    for index in 0..<(text.count / 2) {
        bytes.append(unsafe digit(text[2 * index]) << 4 | digit(text[2 * index + 1]))
    }
    return bytes
}

func passes(_ vector: FrameVector) -> Bool {
    let input = bytes(vector.hex) + [UInt8](repeating: vector.append.byte, count: vector.append.count)
    var decoder = FrameDecoder()
    var sink = VectorSink(order: vector.open ? .open : .beforeSelected)
    var failed = false
    var start = 0
    for end in vector.splits + [input.count] where sink.wantsFrames {
        do throws(FramingError) {
            _ = try decoder.decode(input.span.extracting(start..<end), into: &sink)
        } catch {
            failed = true
            break
        }
        start = end
    }
    guard (failed || sink.wrong) == vector.fails, sink.frames.count == vector.frames.count else {
        return false
    }
    guard decoder.ignoredFrames == vector.skipped || vector.fails else { return false }
    for (found, expected) in zip(sink.frames, vector.frames) {
        let header = FrameHeader(
            FrameKind(rawValue: expected.kind), channel: expected.channel, length: expected.length)
        let appended = [UInt8](repeating: vector.append.byte, count: vector.append.count)
        let payload = vector.append.count > 0 ? appended : bytes(expected.hex)
        guard found.header == header, found.payload == payload else { return false }
    }
    return true
}

func passes(_ vector: FieldVector) -> Bool {
    let input = bytes(vector.hex)
    var reader = TLVReader(TLVSchema(known: vector.known, repeatable: vector.repeatable))
    var index = 0
    do throws(FramingError) {
        while let field = try reader.next(in: input.span) {
            if vector.fails { continue }
            guard index < vector.fields.count, field.type == vector.fields[index].type else { return false }
            guard Array(input[field.value]) == bytes(vector.fields[index].hex) else { return false }
            index += 1
        }
        return !vector.fails && index == vector.fields.count
    } catch {
        return vector.fails
    }
}

func passes(_ vector: HelloVector) -> Bool {
    let payload = bytes(vector.hex)
    let header = FrameHeader(.hello, length: payload.count)
    var decoder = FrameDecoder()
    var sink = VectorSink(order: .beforeSelected)
    var buffer = ByteBuffer()
    buffer.appendFrame(.hello, payload: payload.span)
    let frame = buffer.takeAll()
    do throws(FramingError) {
        _ = try decoder.decode(frame.span, into: &sink)
        guard case .hello(let hello) = try Frame(header, payload.span) else { return false }
        // Written again, only fields that were ignored are missing.
        hello.encode(into: &buffer)
        let again = buffer.takeAll()
        return vector.code == nil && again.count <= frame.count && again[8...] == frame[8..<again.count]
    } catch {
        return error.closeCode.rawValue == vector.code
    }
}

/// Embedded Swift prints literals only.
func printNumber(_ number: Int) {
    let digits: [StaticString] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]
    if number >= 10 { printNumber(number / 10) }
    print(digits[number % 10], terminator: "")
}

@_cdecl("selftest")
func selftest() -> Int32 {
    var passed = 0
    var failed = 0
    func count(_ result: Bool, _ file: StaticString, _ id: StaticString) {
        if result {
            passed += 1
        } else {
            failed += 1
            print("wasm32: failed: ", terminator: "")
            print(file, terminator: " ")
            print(id)
        }
    }
    for vector in frameVectors { count(passes(vector), "frames", vector.id) }
    for vector in fieldVectors { count(passes(vector), "tlv", vector.id) }
    for vector in helloVectors { count(passes(vector), "hello", vector.id) }
    print("wasm32: ", terminator: "")
    printNumber(passed)
    print(" vectors passed, ", terminator: "")
    printNumber(failed)
    print(" failed")
    return failed == 0 && passed > 0 ? 0 : 1
}
