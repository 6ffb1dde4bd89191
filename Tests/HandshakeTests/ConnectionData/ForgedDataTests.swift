import MultipeerFraming
import MultipeerHandshake
import MultipeerSecurity
import TestSupport
import Testing

@testable import MultipeerSimulation

@Suite("5.2 Connection data forged consistently", .computing)
struct ForgedDataTests {
    @Test(
        "both ends' data forged to unencrypted: the connection is plain, and both refuse it [hello.refs] [enc.outcome]"
    )
    func both() throws {
        let pair = try SimulatedSessions(seed: 1)
        for (issuer, holder) in [(0, 1), (1, 0)] {
            try pair.data(from: holder, for: issuer)
            var blob = Blob(taking: try pair.data(from: issuer, for: holder))
            blob.fields[3] = [[2]]
            blob.fields[4] = nil
            try pair.connect(holder, to: issuer, with: try ConnectionData(parsing: blob.bytes))
        }
        var kinds: Set<UInt8> = []
        pair.listen = { kind, _, _ in kinds.insert(kind.rawValue) }
        pair.run(for: .seconds(40))
        #expect(kinds == [FrameKind.hello.rawValue, FrameKind.close.rawValue], "plain, and not confirmed")
        for index in [0, 1] {
            #expect(pair.nodes[index].dials.allSatisfy { $0.key == nil })
            #expect(pair.nodes[index].failures(of: pair.nodes[1 - index].uid).count == 1)
            #expect(pair.nodes[index].closes.contains(.unknownPeer))
        }
    }

    @Test("an end that requires encryption cannot be downgraded [enc.required]")
    func required() throws {
        let pair = try SimulatedSessions([.required, .optional], seed: 1)
        var blob = Blob(taking: try pair.data(from: 1, for: 0))
        blob.fields[3] = [[2]]
        blob.fields[4] = nil
        let data = try ConnectionData(parsing: blob.bytes)
        try pair.data(from: 0, for: 1)
        #expect(throws: LinkEstablishment.Refusal.incompatible) { try pair.connect(0, to: 1, with: data) }
        #expect(pair.nodes[0].dials.isEmpty && !pair.nodes[0].awaitsPlain)
    }

    @Test("addressed data whose recipient was removed is refused by its issuer [hello.refs] [data.recipient]")
    func stolen() throws {
        let trio = try SimulatedSessions([.optional, .optional, .optional], seed: 1)
        var blob = Blob(taking: try trio.data(from: 0, for: 1))
        blob.fields[8] = nil
        try trio.data(from: 2, for: 0)
        try trio.connect(2, to: 0, with: try ConnectionData(parsing: blob.bytes))
        try trio.connect(0, to: 2)
        trio.run(for: .seconds(40))
        #expect(!trio.areLinked(0, 2))
        #expect(trio.nodes[0].closes.contains(.unknownPeer) || trio.nodes[0].heard.contains(.unknownPeer))
    }
}

extension Blob {
    /// Connection data taken apart, to be put together otherwise.
    fileprivate init(taking data: ConnectionData) {
        self.init()
        let bytes = data.bytes
        flags = bytes[5]
        fields = [:]
        var rest = bytes[8..<(bytes.count - 8)]
        while rest.count >= 4 {
            let head = rest.prefix(4).map(Int.init)
            let value = rest.dropFirst(4).prefix(head[2] << 8 | head[3])
            fields[UInt16(head[0] << 8 | head[1]), default: []].append(Array(value))
            rest = rest.dropFirst(4 + value.count)
        }
    }
}
