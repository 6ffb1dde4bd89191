import MultipeerCore
import MultipeerHandshake
import TestSupport
import Testing

@Suite("15 Unauthenticated connections that wait", .computing)
struct UnauthenticatedConnectionTests {
    @Test(
        "the fifth of an address drops one of the four that are 200 ms old, or is refused [limit.unauthenticated]"
    )
    func ofAddress() {
        let crowd = Crowd()
        for _ in 1...4 { #expect(crowd.add([192, 0, 2, 1]) == nil) }
        #expect(crowd.add([192, 0, 2, 1], after: .milliseconds(199)) == 5)
        #expect(crowd.add([192, 0, 2, 1], after: .milliseconds(200)).map { 1...4 ~= $0 } == true)
        #expect(crowd.count == 4)
        #expect(crowd.add([192, 0, 2, 2]) == nil)
    }

    @Test("every older one may be the one that is dropped [limit.unauthenticated]")
    func atRandom() {
        let dropped = (0..<64 as Range<UInt64>).map { seed in
            let crowd = Crowd(seed: seed)
            for _ in 1...4 { _ = crowd.add([192, 0, 2, 1]) }
            return crowd.add([192, 0, 2, 1], after: .seconds(1))
        }
        #expect(Set(dropped) == [1, 2, 3, 4])
    }

    @Test("a flood from many addresses drops no connection younger than 200 ms [limit.unauthenticated]")
    func flood() {
        let crowd = Crowd()
        for number in 0..<96 as Range<UInt8> { #expect(crowd.add([10, 0, 0, number]) == nil) }
        for number in 0..<200 as Range<UInt8> {
            #expect(crowd.add([10, 0, 1, number], after: .milliseconds(199)) == crowd.last)
        }
        #expect(crowd.add([10, 0, 2, 1], after: .milliseconds(200)).map { $0 <= 96 } == true)
        #expect(crowd.count == 96)
    }

    @Test("32 places are kept for the addresses of expected peers, 4 for each [limit.unauthenticated]")
    func expected() {
        let crowd = Crowd()
        for number in 0..<96 as Range<UInt8> { _ = crowd.add([10, 0, 0, number]) }
        for number in 0..<32 as Range<UInt8> {
            #expect(crowd.add([10, 1, 0, number / 4], expectedPeers: 1) == nil)
        }
        #expect(crowd.count == 128)
        #expect(crowd.add([10, 1, 0, 0], expectedPeers: 1) == crowd.last)
        #expect(crowd.add([10, 1, 0, 99], expectedPeers: 1) == crowd.last)
        // They make room among themselves, not among the others.
        let dropped = crowd.add([10, 1, 0, 99], expectedPeers: 1, after: .seconds(1))
        #expect(dropped.map { 97...128 ~= $0 } == true)
    }

    @Test(
        "peers that are expected at one address have 4 places each there, and 32 together [limit.unauthenticated]"
    )
    func shared() {
        let crowd = Crowd()
        for _ in 0..<28 { #expect(crowd.add([10, 1, 0, 0], expectedPeers: 7) == nil) }
        #expect(crowd.add([10, 1, 0, 0], expectedPeers: 7) == crowd.last)
        for _ in 0..<4 { #expect(crowd.add([10, 1, 0, 0], expectedPeers: 8) == nil) }
        #expect(crowd.add([10, 1, 0, 0], expectedPeers: 9) == crowd.last)
    }

    @Test(
        "IPv6 addresses with the same first 64 bits count as one, but not those of expected peers [limit.prefix]"
    )
    func network() {
        let crowd = Crowd()
        func address(_ network: UInt8, _ host: UInt8) -> [UInt8] {
            [0x20, 0x01, 0x0D, 0xB8, 0, 0, 0, network, 0, 0, 0, 0, 0, 0, 0, host]
        }
        for host in 1...4 as ClosedRange<UInt8> { #expect(crowd.add(address(1, host)) == nil) }
        #expect(crowd.add(address(1, 5)) == 5)
        #expect(crowd.add(address(2, 5)) == nil)
        #expect(crowd.add(address(1, 6), expectedPeers: 1) == nil)
    }
}

/// Connections numbered from 1.
private final class Crowd {
    private var connections: UnauthenticatedConnections
    private(set) var last: UInt32 = 0

    init(seed: UInt64 = 1) { connections = UnauthenticatedConnections(seed: seed) }

    var count: Int { connections.count }

    /// Adds a connection. Returns the number of the one that is dropped for it: its own, if it is refused.
    func add(_ address: [UInt8], expectedPeers: Int = 0, after time: Duration = .zero) -> UInt32? {
        last += 1
        let now = Moment(nanoseconds: 1_000_000_000_000) + time
        guard let place = connections.makeRoom(for: address, expectedPeers: expectedPeers, at: now) else {
            return last
        }
        connections.add(ConnectionID(rawValue: last), in: place, at: now)
        return place.dropped?.rawValue
    }
}
