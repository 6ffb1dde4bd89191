import MultipeerDiscovery
import Testing

@Suite("12 Service types")
struct ServiceTypeTests {
    @Test("a service type is its name")
    func name() throws {
        #expect(try ServiceType("chat").name == "chat")
    }
}
