import FuzzBodies
import MultipeerCore
import MultipeerHandshake
import TestSupport
import Testing

@testable import MultipeerMesh

@Suite("11.8 Endpoints that are remembered for a while", .computing)
struct ExpiringEndpointTests {
    private let start = Moment(nanoseconds: 1_000_000_000)

    @Test("of more than 64, the one that would expire first is forgotten [mesh.counted]")
    func capacity() {
        var endpoints = ExpiringEndpoints()
        for number in 1...200 {
            endpoints.remember(peer(number), until: start + .seconds(number), at: start)
        }
        #expect((1...200).filter { endpoints.holds(peer($0), at: start) } == Array(137...200))
        #expect(!endpoints.holds(peer(140), at: start + .seconds(140)))
    }
}
