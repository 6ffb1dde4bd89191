import MultipeerCore
import TestSupport
import Testing

@testable import MultipeerDiscovery

@Suite("12.6 Advertising by the system's responder", .computing)
struct SystemAdvertisingTests {
    private let ann: Advert

    init() throws { ann = try Sample.advert() }

    private func advertising(
        _ harness: SystemHarness = SystemHarness()
    ) throws -> (harness: SystemHarness, id: AdvertID) {
        var harness = harness
        let id = try harness.with { [ann] dns, now throws(MulticastDNSFault) in
            try dns.advertise(ann, at: now)
        }
        return (harness, id)
    }

    private func registration(_ advert: Advert, attempt: Int = 0, interface: UInt32 = 0)
        -> SystemDNS.Operation
    {
        .register(
            label: String(decoding: label(attempt), as: UTF8.self), advert.type, port: advert.port,
            txt: Binding.txt(advert.peer, advert.info), interface: interface)
    }

    private func label(_ attempt: Int) -> [UInt8] { Binding.label(for: ann.peer, attempt: attempt) }

    @Test("an advertisement is registered on each interface, and its owner notified once")
    func register() throws {
        var (harness, id) = try advertising(SystemHarness(interfaces: [2, 3]))
        #expect(harness.operations == [registration(ann, interface: 2), registration(ann, interface: 3)])
        #expect(harness.told.isEmpty)
        for _ in 0..<2 { harness.reply(.registered(label: label(0)), to: { _ in true }) }
        #expect(harness.told == [.registered(id)])
        harness.with { dns, _ in dns.withdraw(id) }
        #expect(harness.operations.isEmpty && harness.dns.isIdle)
    }

    @Test("other info replaces the TXT record, and another port the registration")
    func update() throws {
        var (harness, id) = try advertising()
        harness.reply(.registered(label: label(0)), to: { _ in true })
        _ = harness.takeTold()
        let changed = try Sample.advert(info: ["room": "8"])
        harness.with { dns, now in dns.update(id, info: changed.info, port: changed.port, at: now) }
        #expect(harness.told.count == 1)
        guard case .update(_, let txt) = harness.told.first else { return #expect(Bool(false)) }
        #expect(txt == Binding.txt(changed.peer, changed.info))
        let moved = try Sample.advert(port: 4_001, info: ["room": "8"])
        harness.with { dns, now in dns.update(id, info: moved.info, port: moved.port, at: now) }
        #expect(harness.operations == [registration(moved)])
    }

    @Test(
        "after a conflict the next name is taken, whether the call fails or the responder chose one [mdns.conflict]",
        arguments: [SystemDNS.Event.failed(.nameConflict), .registered(label: Array("ann #2".utf8))])
    func conflict(_ event: SystemDNS.Event) throws {
        var (harness, id) = try advertising()
        harness.reply(event, to: { _ in true })
        #expect(harness.operations == [registration(ann, attempt: 1)])
        #expect(harness.told.isEmpty)
        harness.reply(.registered(label: label(1)), to: { _ in true })
        #expect(harness.told == [.registered(id)])
    }

    @Test("after fifteen conflicts there is a pause [mdns.conflict]")
    func conflicts() throws {
        var (harness, id) = try advertising()
        for _ in 0..<SystemAdvertisement.mostAttempts {
            #expect(harness.operations.count == 1)
            harness.reply(.failed(.nameConflict), to: { _ in true })
        }
        #expect(harness.operations.isEmpty)
        #expect(harness.told == [.refused(id, .nameConflict)])
        harness.pass(SystemDNS.pause)
        #expect(harness.operations == [registration(ann, attempt: SystemAdvertisement.mostAttempts)])
    }

    @Test("an advertisement that is refused is tried again, and then registered")
    func refused() throws {
        var (harness, id) = try advertising()
        harness.reply(.failed(.notRunning), to: { _ in true })
        #expect(harness.takeTold() == [.refused(id, .notRunning)])
        #expect(harness.dns.obstacle == .notRunning)
        harness.pass(SystemDNS.pause)
        harness.reply(.failed(.notRunning), to: { _ in true })
        #expect(harness.takeTold().isEmpty, "it is reported once")
        harness.pass(SystemDNS.pause)
        #expect(harness.operations == [registration(ann)])
        harness.reply(.registered(label: label(0)), to: { _ in true })
        #expect(harness.takeTold() == [.registered(id)])
        #expect(harness.dns.obstacle == nil)
    }

    @Test("a responder that does not reply in time has refused")
    func silence() throws {
        var (harness, id) = try advertising()
        harness.pass(SystemAdvertisement.timeLimit)
        #expect(harness.told == [.refused(id, .timedOut)])
        #expect(harness.operations.isEmpty)
    }

    @Test("with one of two interfaces, it is registered")
    func partly() throws {
        var (harness, id) = try advertising(SystemHarness(interfaces: [2, 3]))
        harness.reply(.failed(.noInterface), to: { $0 == registration(ann, interface: 2) })
        #expect(harness.told.isEmpty)
        harness.reply(.registered(label: label(0)), to: { _ in true })
        #expect(harness.told == [.registered(id)])
        #expect(harness.dns.obstacle == nil)
    }

    @Test("there is a maximum number of advertisements [mdns.limit]")
    func most() throws {
        var harness = SystemHarness()
        for number in 0..<SystemDNS.mostOrders {
            let advert = try Sample.advert(UInt64(number))
            _ = try harness.with { dns, now throws(MulticastDNSFault) in try dns.advertise(advert, at: now) }
        }
        let isFull = harness.with { [ann] dns, now in (try? dns.advertise(ann, at: now)) == nil }
        #expect(isFull)
    }
}
