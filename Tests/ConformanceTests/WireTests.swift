import Foundation
import TestSupport
import Testing

@testable import MultipeerConformance

@Suite("The judge's own builder", .computing)
struct WireTests {
    private static let data = ConnectionData(
        endpoint: Endpoint(uid: .pattern(16), instance: .pattern(8)), name: Array("Ann".utf8),
        preference: .none,
        token: .pattern(32), recipient: .pattern(16, from: 9), candidates: [.loopback(4_000)],
        extra: [TLVEntry(0x2a2a, [1])])

    @Test("connection data that is built is read back, and keeps its order")
    func connectionData() throws {
        let read = try ConnectionData(WireTests.data.bytes)
        #expect(read.bytes == WireTests.data.bytes)
        #expect(read.entries.map(\.type) == read.entries.map(\.type).sorted())
    }

    @Test("frames are found in a stream, in whatever pieces it arrives", arguments: [1, 3, 7, 8, 1_000])
    func frames(_ piece: Int) {
        let sent = [
            Frame.select, .message(.pattern(300)), .close(.goodbye, reason: "bye"), .credit(7, channel: 9),
        ]
        var reader = FrameReader()
        var found: [Frame] = []
        let bytes = sent.flatMap(\.bytes)
        for start in stride(from: 0, to: bytes.count, by: piece) {
            reader.push(Array(bytes[start..<min(start + piece, bytes.count)]))
            while let frame = reader.next() { found.append(frame) }
        }
        #expect(found == sent)
    }

    @Test("hexadecimal digits are read and written", arguments: ["", "00ff", "0aB1"])
    func hex(_ text: String) {
        #expect([UInt8](hex: text)?.hex == text.lowercased())
        #expect([UInt8](hex: text + "g") == nil)
    }
}

/// The vectors are written by a third implementation, so the judge's own builder is checked before it judges.
@Suite("The judge's own builder and the vectors", .computing)
struct JudgeVectorTests {
    /// The tests of the groups of one type.
    private static func vectors(_ file: String, _ type: String) throws -> [JSONValue] {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let bytes = try Data(contentsOf: root.appending(path: "Spec/vectors/\(file).json"))
        guard case .array(let groups) = JSONValue(line: Array(bytes))?["groups"] else { return [] }
        return groups.filter { $0["type"]?.text == type }.flatMap { group -> [JSONValue] in
            guard case .array(let tests) = group["tests"] else { return [] }
            return tests
        }
    }

    private static func bytes(_ vector: JSONValue, _ field: String) throws -> [UInt8] {
        try #require(vector[field]?.text.flatMap { [UInt8](hex: $0) }, "\(field)")
    }

    @Test("connection data is accepted or refused as in the vectors")
    func connectionData() throws {
        let vectors = try JudgeVectorTests.vectors("connection-data", "connection-data")
        try #require(vectors.count > 50)
        for vector in vectors {
            let bytes = try JudgeVectorTests.bytes(vector, "hex")
            let isTaken = (try? ConnectionData(bytes)) != nil
            #expect(isTaken == (vector["result"]?.text == "valid"), "\(vector["id"]?.text ?? "")")
        }
    }

    @Test("the mac of CONFIRM is the one of the vectors")
    func confirm() throws {
        let vectors = try JudgeVectorTests.vectors("link-confirm", "link-confirm")
            .filter { $0["result"]?.text == "valid" }
        try #require(!vectors.isEmpty)
        for vector in vectors {
            let key = LinkKey(
                hellos: (
                    try JudgeVectorTests.bytes(vector, "helloInitiator"),
                    try JudgeVectorTests.bytes(vector, "helloResponder")
                ),
                tokens: (
                    try JudgeVectorTests.bytes(vector, "tokenInitiator"),
                    try JudgeVectorTests.bytes(vector, "tokenResponder")
                ), binding: try JudgeVectorTests.bytes(vector, "binding"))
            let role = vector["role"]?.text == "initiator" ? LinkKey.Role.initiator : .responder
            #expect(
                key.mac(role) == (try JudgeVectorTests.bytes(vector, "mac")), "\(vector["id"]?.text ?? "")")
        }
    }
}
