import MultipeerDiscovery
import TestSupport
import Testing

@Suite("12.2 Service types", .computing)
struct ServiceTypeTests {
    @Test(
        "1 to 15 letters, digits and single inner hyphens are a service type [service.type]",
        arguments: ["a", "chat", "chat-2", "3d", "a-b-c", "abcdefghijklmno"])
    func good(_ name: String) throws {
        #expect(try ServiceType(parsing: name).name == name)
        #expect(try ServiceType(parsing: name).description == name)
    }

    @Test(
        "anything else is refused, with the reason [service.type]",
        arguments: [
            ("", .length(0)), ("abcdefghijklmnop", .length(16)), ("Chat", .upperCase("C")),
            ("_chat", .character("_")), ("chat.", .character(".")), ("chät", .character("ä")),
            ("a b", .character(" ")), ("123", .noLetter), ("1-2", .noLetter), ("-chat", .hyphen),
            ("chat-", .hyphen), ("a--b", .hyphen), ("chat\u{301}", .character("t\u{301}")),
        ] as [(String, InvalidServiceType)])
    func bad(_ name: String, _ fault: InvalidServiceType) {
        #expect(throws: fault) { try ServiceType(parsing: name) }
        #expect(!fault.description.isEmpty)
    }

    @Test("upper case is refused with an error that says so")
    func upperCase() {
        #expect("\(InvalidServiceType.upperCase("C"))".contains("lower case"))
    }
}
