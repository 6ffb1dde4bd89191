import MultipeerFraming
import MultipeerSecurity
import TestSupport
import Testing

@Suite("5.3 TLS records", .computing)
struct RecordTests {
    @Test(
        "bytes of any length arrive in both directions", arguments: [1, 2, 16_383, 16_384, 16_385, 300_000])
    func lengths(_ count: Int) throws {
        var pair = try Pair.established()
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        try pair.client.write(bytes)
        try pair.server.write(Array(bytes.reversed()))
        pair.exchange()
        #expect(try pair.server.readAll().bytes == bytes)
        #expect(try pair.client.readAll().bytes == Array(bytes.reversed()))
        #expect(pair.client.outputCount == 0 && pair.server.outputCount == 0)
    }

    @Test("a record that arrives in two pieces, split anywhere, is read when it is complete")
    func splits() throws {
        var pair = try Pair.established()
        for split in 0...33 {
            try pair.client.write([UInt8](repeating: UInt8(split), count: 12))
            let record = pair.client.takeOutput()
            #expect(record.count == 34)
            try pair.server.receive(record.span.extracting(0..<split))
            #expect(try pair.server.readAll().bytes.isEmpty)
            try pair.server.receive(record.span.extracting(split..<record.count))
            #expect(try pair.server.readAll().bytes.count == 12)
        }
    }

    @Test("records are read from the caller's buffer to the end of an array, as many bytes as it wants")
    func appending() throws {
        var pair = try Pair.established()
        let bytes = (0..<40_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        try pair.client.write(bytes)
        var input = ByteBuffer()
        input.append(pair.client.takeOutput())
        var read: [UInt8] = [1, 2, 3]
        #expect(try pair.server.read(from: &input, appendingTo: &read, upTo: 20_000) == .bytes(20_000))
        // The third record is not processed yet, and the caller keeps it.
        let left = input.count
        #expect(left > 0)
        #expect(try pair.server.read(from: &input, appendingTo: &read, upTo: 30_000) == .bytes(20_000))
        let rest = input.count
        #expect(read == [1, 2, 3] + bytes && rest == 0)
        #expect(try pair.server.read(from: &input, appendingTo: &read, upTo: 1) == .needsInput)
    }

    @Test("nothing is sent for no bytes, not even an empty record")
    func empty() throws {
        var pair = try Pair.established()
        try pair.client.write([])
        var nothing = ByteBuffer()
        try pair.client.write(contentsOf: &nothing)
        #expect(pair.client.outputCount == 0)
    }

    @Test("a buffer is encrypted whole and left empty")
    func buffers() throws {
        var pair = try Pair.established()
        var buffer = ByteBuffer()
        buffer.append([1, 2, 3])
        try pair.client.write(contentsOf: &buffer)
        let isEmpty = buffer.isEmpty
        #expect(isEmpty)
        pair.exchange()
        #expect(try pair.server.readAll().bytes == [1, 2, 3])
    }

    @Test("a read stops at its limit and later continues there")
    func limits() throws {
        var pair = try Pair.established()
        try pair.client.write(Array(0..<10))
        pair.exchange()
        var buffer = ByteBuffer()
        #expect(try pair.server.read(into: &buffer, upTo: 4) == .bytes(4))
        #expect(try pair.server.read(into: &buffer, upTo: 100) == .bytes(6))
        #expect(try pair.server.read(into: &buffer, upTo: 100) == .needsInput)
        let all = buffer.takeAll()
        #expect(all == Array(0..<10))
    }

    @Test("output that was written in part stays, in order")
    func partialOutput() throws {
        var pair = try Pair.established()
        try pair.client.write([UInt8](repeating: 9, count: 40_000))
        let total = pair.client.outputCount
        pair.client.withOutput { _ in 1_000 }
        #expect(pair.client.outputCount == total - 1_000)
        pair.client.withOutput { _ in 0 }
        try pair.client.write([1])
        #expect(pair.client.outputCount == total - 1_000 + 23)
    }

    @Test("close_notify ends the reading cleanly [tls.truncation]")
    func goodbye() throws {
        var pair = try Pair.established()
        try pair.client.write([1, 2])
        pair.client.close()
        pair.exchange()
        let read = try pair.server.readAll()
        #expect(read.bytes == [1, 2] && read.end == .closed)
        try pair.server.end()
        try pair.server.write([3])
        pair.exchange()
        #expect(try pair.client.readAll().bytes == [3])
    }

    @Test("an end without close_notify is a failure, even in the middle of a record [tls.truncation]")
    func truncation() throws {
        var pair = try Pair.established()
        #expect(throws: SecurityFault.peer(.truncated)) { try pair.server.end() }
        try pair.client.write([1, 2, 3])
        let record = pair.client.takeOutput()
        try pair.server.receive(record.span.extracting(0..<10))
        #expect(try pair.server.readAll().end == .needsInput)
        #expect(throws: SecurityFault.peer(.truncated)) { try pair.server.end() }
    }

    @Test(
        "a changed byte anywhere in a record is detected, and the failure is permanent",
        arguments: [0, 1, 3, 5, 20, 26])
    func tampering(_ position: Int) throws {
        var pair = try Pair.established()
        try pair.client.write([1, 2, 3, 4, 5])
        var record = pair.client.takeOutput()
        record[position] ^= 0x10
        try pair.server.receive(record.span)
        let longer = [UInt8](repeating: 0, count: 20_000)
        try pair.server.receive(longer.span)
        let fault = #expect(throws: SecurityFault.self) { _ = try pair.server.readAll() }
        #expect(fault == .peer(.badRecord))
        #expect(throws: SecurityFault.peer(.badRecord)) { _ = try pair.server.readAll() }
        #expect(pair.server.outputCount > 0)
    }

    @Test("bytes before a bad record are still delivered")
    func goodThenBad() throws {
        var pair = try Pair.established()
        try pair.client.write([1, 2])
        let good = pair.client.takeOutput()
        try pair.server.receive((good + [23, 3, 3, 0, 20] + [UInt8](repeating: 0, count: 20)).span)
        var buffer = ByteBuffer()
        #expect(try pair.server.read(into: &buffer, upTo: 100) == .bytes(2))
        #expect(throws: SecurityFault.peer(.badRecord)) { try pair.server.read(into: &buffer, upTo: 100) }
    }
}
