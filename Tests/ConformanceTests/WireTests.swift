import Testing

@testable import MultipeerConformance

@Suite("The judge's own builder")
struct WireTests {
    @Test("what is built is read back")
    func roundTrip() throws {
        let data = ConnectionData(
            endpoint: Endpoint(uid: .pattern(16), instance: .pattern(8)), name: Array("Ann".utf8),
            preference: .none,
            token: .pattern(32), candidates: [.loopback(4_000)])
        #expect(try ConnectionData(data.bytes).bytes == data.bytes)
    }
}
