import MultipeerCore
import TestSupport
import Testing

@testable import MultipeerDiscovery

@Suite("12.2 Names and codes of the system's responder", .computing)
struct SystemNamesTests {
    @Test(
        "a name is passed with every byte escaped that could have a meaning [dns.name]",
        arguments: [
            (["Ann v1.2"], "Ann\\032v1\\0462."), (["a\\b", "_tcp", "local"], "a\\092b._tcp.local."),
            (["Zoë"], "Zo\\195\\171."), (["\"'\0\u{7F}"], "\\034\\039\\000\\127."),
        ])
    func escaped(_ labels: [String], _ text: String) throws {
        let name = try DNSName(labels.map { Array($0.utf8) })
        #expect(name.escaped == text)
        #expect(DNSName(text) == name, "it is read back as the same")
    }

    @Test("every name is read back as the same [dns.name]")
    func everyByte() throws {
        let name = try DNSName(
            (0..<8).map { part in (0..<28).map { UInt8(truncatingIfNeeded: 32 * part + $0) } })
        #expect(DNSName(name.escaped) == name)
    }

    @Test("the name of an instance has its label, escaped")
    func instance() throws {
        let advert = try Sample.advert(1, "Ann v1.2 ")
        let label = Binding.label(for: advert.peer)
        #expect(Sample.instance(advert).escaped.hasPrefix("Ann\\032v1\\0462\\032-"))
        #expect(try DNSName(Sample.instance(advert).labels).firstLabel == label)
    }

    @Test("each status is a fault but that of success, and its text is one line")
    func faults() {
        #expect(ResponderFault(status: 0) == nil)
        #expect(ResponderFault(status: -65_548) == .nameConflict)
        #expect(ResponderFault(status: -65_563) == .notRunning)
        #expect(ResponderFault(status: -65_570) == .denied)
        let statuses = (-65_600 ... -65_500).map { Int32($0) } + [.min, -1, 1, .max]
        for status in statuses {
            guard let fault = ResponderFault(status: status) else {
                Issue.record("\(status)")
                continue
            }
            #expect(!fault.description.isEmpty && !fault.description.contains("\n"))
        }
    }
}
