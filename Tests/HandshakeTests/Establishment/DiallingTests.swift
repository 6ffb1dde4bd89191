import MultipeerCore
import MultipeerHandshake
import TestSupport
import Testing

@Suite("4.4 Dialling", .computing)
struct DiallingTests {
    private func candidates(_ count: UInt8) throws -> [Candidate] {
        try (1...count).map { try Stage.address($0) }
    }

    @Test(
        "at most 4 dials are in progress, started 250 ms apart, in the order of the candidates [dial.limit]")
    func four() throws {
        let addresses = try candidates(16)
        var stage = try Stage(weAreLower: true, theirCandidates: addresses)
        #expect(try stage.connect().dials.map(\.candidate) == [addresses[0]])
        let later = stage.wait(.milliseconds(4_999)).filter { ![$0.action].dials.isEmpty }
        #expect(later.map(\.after) == [.milliseconds(250), .milliseconds(500), .milliseconds(750)])
        #expect(later.map(\.action).dials.map(\.candidate) == Array(addresses[1...3]))
    }

    @Test("a dial that fails is followed by exactly one more at once [dial.limit]")
    func failed() throws {
        let addresses = try candidates(16)
        var stage = try Stage(weAreLower: true, theirCandidates: addresses)
        var dials = try stage.connect().dials
        for place in 0..<8 {
            stage.machine.lost(dials[place].id, .unreachable("refused"), at: stage.now)
            dials += stage.machine.takeActions().dials
            #expect(dials.map(\.candidate) == Array(addresses[0...(place + 1)]))
        }
        #expect(stage.wait(.milliseconds(249)).isEmpty)
        #expect(stage.wait(.milliseconds(1)).map(\.action).dials.map(\.candidate) == [addresses[9]])
    }

    @Test(
        "however dials fail, there are at most 4, and none is repeated before all were tried [dial.limit]",
        arguments: 0..<20)
    func never(_ seed: UInt64) throws {
        let addresses = try candidates(16)
        var random = Seeded(seed)
        var stage = try Stage(weAreLower: true, theirCandidates: addresses)
        var open = try stage.connect().dials
        var order = open.map(\.candidate)
        while order.count < 32 {
            var fresh = stage.wait(random.milliseconds(0...120)).map(\.action).dials
            if random.hits(oneIn: 3), let gone = open.randomElement(using: &random) {
                open.removeAll { $0.id == gone.id }
                stage.machine.lost(gone.id, .lost, at: stage.now)
                fresh += stage.machine.takeActions().dials
            }
            open += fresh
            order += fresh.map(\.candidate)
            #expect(open.count <= 4)
        }
        #expect(Array(order.prefix(32)) == addresses + addresses)
    }

    @Test("no dial begins while a connection waits for SELECT [dial.limit]")
    func waiting() throws {
        var stage = try Stage(weAreLower: true, theirCandidates: candidates(16))
        try stage.connect()
        try stage.candidate()
        #expect(stage.wait(.milliseconds(2_000)).map(\.action).dials.isEmpty)
    }

    struct Address: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let bytes: [UInt8]
        var port: UInt16 = 50_000

        static func four(_ name: String, _ bytes: [UInt8], port: UInt16 = 50_000) -> [Address] {
            let mapped = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF] + bytes
            return [
                Address(testDescription: name, bytes: bytes, port: port),
                Address(testDescription: "\(name), mapped", bytes: mapped, port: port),
            ]
        }

        static func six(_ name: String, _ head: [UInt8], _ tail: [UInt8] = []) -> Address {
            let middle = [UInt8](repeating: 0, count: 16 - head.count - tail.count)
            return Address(testDescription: name, bytes: head + middle + tail)
        }
    }

    static let forbidden =
        Address.four("0.0.0.0", [0, 0, 0, 0]) + Address.four("0.1.2.3", [0, 1, 2, 3])
        + Address.four("224.0.0.1", [224, 0, 0, 1]) + Address.four("239.255.255.255", [239, 255, 255, 255])
        + Address.four("255.255.255.255", [255, 255, 255, 255])
        + Address.four("port 0", [10, 0, 0, 9], port: 0) + Address.four("port 22", [10, 0, 0, 9], port: 22)
        + Address.four("port 1023", [10, 0, 0, 9], port: 1023)
        + [.six("::", []), .six("ff02::1", [0xFF, 2], [1]), .six("ff0e::fb", [0xFF, 0x0E], [0xFB])]

    @Test(
        "a forbidden address is skipped, also mapped into IPv6, and the others are dialled [dial.forbidden]",
        arguments: forbidden)
    func skipped(_ address: Address) throws {
        let bad = try #require(Candidate(address: address.bytes, port: address.port))
        let good = try Stage.address(2)
        var stage = try Stage(weAreLower: true, theirCandidates: [bad, good])
        var dials = try stage.connect().dials
        dials += stage.wait(.milliseconds(4_900)).map(\.action).dials
        #expect(!dials.isEmpty && dials.allSatisfy { $0.candidate == good })
    }

    static let allowed =
        Address.four("port 1024", [10, 0, 0, 9], port: 1024)
        + Address.four("223.255.255.255", [223, 255, 255, 255])
        + Address.four("1.0.0.0", [1, 0, 0, 0])
        + Address.four("255.255.255.254", [255, 255, 255, 254], port: 65_535)
        + [.six("2001:db8::1", [0x20, 1, 0x0D, 0xB8], [1]), .six("fd00::1", [0xFD], [1])]

    @Test("the addresses next to the forbidden ones are dialled [dial.forbidden]", arguments: allowed)
    func dialled(_ address: Address) throws {
        let candidate = try #require(Candidate(address: address.bytes, port: address.port))
        var stage = try Stage(weAreLower: true, theirCandidates: [candidate])
        #expect(try stage.connect().dials.map(\.candidate) == [candidate])
    }

    @Test(
        "when all addresses are forbidden nothing is dialled, but the peer may still connect [dial.forbidden]"
    )
    func onlyForbidden() throws {
        let bad = try #require(Candidate(address: [224, 0, 0, 1], port: 50_000))
        var stage = try Stage(weAreLower: true, theirCandidates: [bad])
        try stage.connect()
        #expect(stage.wait(.seconds(20)).isEmpty)
        try stage.link()
    }

    static let loopback =
        Address.four("127.0.0.1", [127, 0, 0, 1]) + Address.four("127.255.255.254", [127, 255, 255, 254])
        + [.six("::1", [], [1])]

    @Test(
        "a loopback address is dialled only by a session that issued one itself [dial.loopback]",
        arguments: loopback)
    func local(_ address: Address) throws {
        let candidate = try #require(Candidate(address: address.bytes, port: address.port))
        var outside = try Stage(weAreLower: true, theirCandidates: [candidate])
        #expect(try outside.connect().isEmpty)
        let own = try #require(Candidate(address: [127, 0, 0, 1], port: 50_001))
        var inside = try Stage(weAreLower: true, theirCandidates: [candidate], ourCandidates: [own])
        #expect(try inside.connect().dials.map(\.candidate) == [candidate])
    }

    @Test(
        "a link-local address is tried on up to 8 interfaces; others once, without a zone [dial.link-local]",
        arguments: [0, 1, 3, 8, 20])
    func linkLocal(_ interfaces: UInt32) throws {
        let local = try #require(
            Candidate(address: [0xFE, 0x80] + [UInt8](repeating: 7, count: 14), port: 50_000))
        let global = try Stage.address(2)
        var stage = try Stage(weAreLower: true, theirCandidates: [local, global])
        let zones = interfaces == 0 ? [] : Array(1...interfaces)
        #expect(try stage.machine.connect(with: stage.theirs, zones: zones, at: stage.now))
        var dials = stage.machine.takeActions().dials
        while let dial = dials.last, dial.candidate != global {
            stage.machine.lost(dial.id, .lost, at: stage.now)
            dials += stage.machine.takeActions().dials
            try #require(dials.count < 20)
        }
        #expect(dials.map(\.candidate.zone) == zones.prefix(8) + [0])
        #expect(dials.dropLast().allSatisfy { $0.candidate.address == local.address })
    }
}
