import MultipeerCore
import MultipeerDiscovery
import TestSupport
import Testing

@Suite("12.4 Found, updated, lost", .computing)
struct BrowsingTests {
    private func watcher(scopes: [Scope] = [.one]) -> QuerierHarness {
        var watcher = QuerierHarness(scopes: scopes)
        watcher.browse(.chat)
        watcher.pass(.milliseconds(200))
        return watcher
    }

    @Test("a peer is found when PTR, SRV and TXT are known, in any order [mdns.lost]")
    func order() throws {
        let ann = try Advertised("Ann", 1)
        var watcher = watcher()
        watcher.hear([ann.pointer()])
        watcher.hear([try ann.text()])
        #expect(watcher.events.isEmpty)
        watcher.hear([ann.server()])
        #expect(watcher.events() == [ann.found])
        watcher.hear(try ann.all())
        #expect(watcher.events() == [ann.found])
        #expect(watcher.reports == 1)
    }

    @Test("additional records count, and records may arrive before those that refer to them")
    func sections() throws {
        let ann = try Advertised("Ann", 1)
        var watcher = watcher()
        var message = DNSMessage()
        message.isResponse = true
        message.answers = try ann.all().reversed().dropLast()
        message.additionals = [ann.pointer()]
        watcher.receive(message, PacketInfo(scope: 1, family: .v4, from: [10, 0, 0, 9], port: 5353))
        #expect(watcher.events() == [ann.found])
    }

    @Test("new info or a new name is an update, anything else is not [mdns.lost]")
    func update() throws {
        var ann = try Advertised("Ann", 1)
        var watcher = watcher()
        watcher.hear(try ann.all())
        watcher.pass(.seconds(5))
        let found = ann.found
        ann.info = ["room": "blue"]
        watcher.hear([try ann.text()])
        watcher.hear([try ann.text()])
        let updated = ann.updated
        watcher.pass(.seconds(5))
        ann.port = 9_999
        watcher.hear(try ann.all())
        watcher.pass(.seconds(5))
        #expect(watcher.events() == [found, updated])
        #expect(watcher.reports == 2)
    }

    @Test(
        "a peer that changes and says goodbye within a second does not return to its earlier info [mdns.lost]"
    )
    func goodbyeSoonAfterUpdate() throws {
        var ann = try Advertised("Ann", 1)
        var watcher = watcher()
        watcher.hear(try ann.all())
        let found = ann.found
        watcher.pass(.milliseconds(500))
        ann.info = ["room": "blue"]
        watcher.hear([try ann.text()])
        watcher.pass(.milliseconds(200))
        for _ in 0..<3 { watcher.hear(try ann.goodbye()) }
        watcher.pass(.seconds(5))
        #expect(watcher.events() == [found, ann.updated, ann.lost])
    }

    @Test("two labels with one uid are one peer, described by the newer one [mdns.lost]")
    func twoLabels() throws {
        let ann = try Advertised("Ann", 1)
        var renamed = ann
        renamed.peer = try PeerID(validating: ann.peer.uid, displayName: "Anna")
        renamed.info = ["a": "b"]
        var watcher = watcher()
        watcher.hear(try ann.all())
        watcher.pass(.seconds(2))
        watcher.hear(try renamed.all())
        #expect(watcher.events() == [ann.found, renamed.updated])
        watcher.pass(.seconds(5))
        watcher.hear(try ann.all())
        #expect(watcher.events().count == 2, "what is only repeated is not newer")
        watcher.hear(try renamed.goodbye())
        watcher.pass(.seconds(2))
        #expect(watcher.events().last == ann.updated)
        watcher.hear(try ann.goodbye())
        watcher.pass(.seconds(2))
        #expect(watcher.events() == [ann.found, renamed.updated, ann.updated, ann.lost])
    }

    @Test("a peer that changes its port or its addresses was not restarted [mdns.restart]")
    func elsewhere() throws {
        var ann = try Advertised("Ann", 1)
        var watcher = watcher()
        watcher.hear(try ann.all())
        for number in 1...3 as ClosedRange<UInt8> {
            watcher.pass(.seconds(5))
            (ann.port, ann.addresses) = (5_000 + UInt16(number), [[10, 0, 0, 20 + number]])
            watcher.hear(try ann.all())
        }
        watcher.pass(.seconds(5))
        #expect(watcher.events() == [ann.found])
    }

    @Test("records of an earlier start that are repeated late do not bring it back [mdns.restart]")
    func lateRepetition() throws {
        let ann = try Advertised("Ann", 1)
        var again = ann
        again.host = "mpc-again.local"
        var watcher = watcher()
        watcher.hear(try ann.all())
        watcher.pass(.seconds(5))
        for peer in [again, ann, again, ann, again] {
            watcher.hear(try peer.all())
            watcher.pass(.milliseconds(200))
        }
        watcher.pass(.seconds(5))
        #expect(watcher.events() == [ann.found, ann.lost, ann.found])
    }

    @Test(
        "a restarted peer is lost and found once, on whichever scopes, and in whichever order [mdns.restart]")
    func restartOnSeveralScopes() throws {
        let ann = try Advertised("Ann", 1)
        var again = ann
        again.host = "mpc-again.local"
        var watcher = watcher(scopes: [.one, .two, .loopback])
        for scope in [1, 2, 3] as [UInt32] { watcher.hear(try ann.all(), on: scope) }
        watcher.pass(.seconds(5))
        watcher.hear(try again.all(), on: 1)
        #expect(watcher.events() == [ann.found, ann.lost, ann.found])
        for scope in [3, 2] as [UInt32] { watcher.hear(try again.all(), on: scope) }
        watcher.pass(.seconds(200))
        #expect(watcher.events() == [ann.found, ann.lost, ann.found, ann.lost], "SRV has expired")
    }

    @Test("a peer seen on several scopes is found once, and lost when it is gone from all [mdns.scope]")
    func severalScopes() throws {
        let ann = try Advertised("Ann", 1)
        var watcher = watcher(scopes: [.one, .two, .loopback])
        for scope in [1, 2, 3] as [UInt32] { watcher.hear(try ann.all(), on: scope) }
        watcher.hear(try ann.all(), on: 2, .v6)
        #expect(watcher.events() == [ann.found])
        watcher.hear(try ann.goodbye(), on: 1)
        watcher.pass(.seconds(2))
        watcher.do { $0.scopeGone(2, at: $1) }
        #expect(watcher.events() == [ann.found])
        watcher.do { $0.scopeGone(3, at: $1) }
        #expect(watcher.events() == [ann.found, ann.lost])
    }

    @Test("a new or changed scope is queried at once [mdns.query]")
    func newScope() throws {
        let ann = try Advertised("Ann", 1)
        var watcher = watcher()
        watcher.pass(.seconds(100))
        watcher.forgetWhatWasSent()
        watcher.do { $0.scopeChanged(.two, at: $1) }
        #expect(watcher.oneShots.map(\.outgoing.scope) == [2, 2])
        #expect(watcher.oneShots.map(\.outgoing.family) == [.v4, .v6])
        watcher.hear(try ann.all(), on: 2)
        #expect(watcher.events() == [ann.found])
        watcher.forgetWhatWasSent()
        var changed = Scope.one
        changed.addresses.append(Scope.Address([10, 0, 0, 2], prefix: 24))
        watcher.do { $0.scopeChanged(changed, at: $1) }
        watcher.pass(.milliseconds(120))
        #expect(watcher.oneShots.count == 1)
        #expect(watcher.asked(.ptr, on: 1).count == 1)
    }

    @Test("a browser does not report the peer that it hides, and reports all others [mdns.self]")
    func hidden() throws {
        let ann = try Advertised("Ann", 1)
        let bob = try Advertised("Bob", 2)
        var watcher = QuerierHarness()
        watcher.browse(.chat, hiding: ann.peer.uid, as: 1)
        watcher.browse(.chat, hiding: bob.peer.uid, as: 2)
        watcher.browse(.chat, as: 3)
        watcher.hear(try ann.all() + bob.all())
        watcher.hear(try ann.goodbye() + bob.goodbye())
        watcher.pass(.seconds(2))
        #expect(watcher.events(of: 1) == [bob.found, bob.lost])
        #expect(watcher.events(of: 2) == [ann.found, ann.lost])
        #expect(watcher.events(of: 3) == [ann.found, bob.found, ann.lost, bob.lost])
    }

    @Test("a later browser reports the known peers at once")
    func lateBrowser() throws {
        let ann = try Advertised("Ann", 1)
        var watcher = watcher()
        watcher.hear(try ann.all())
        watcher.pass(.seconds(5))
        watcher.browse(.chat, as: 2)
        #expect(watcher.events(of: 2) == [ann.found])
        watcher.browse(.chat, hiding: ann.peer.uid, as: 3)
        #expect(watcher.events(of: 3) == [])
        watcher.browse(.game, as: 4)
        #expect(watcher.events(of: 4) == [])
    }

    @Test("a browser reports nothing after it has stopped")
    func stopped() throws {
        let ann = try Advertised("Ann", 1)
        var watcher = watcher()
        watcher.browse(.chat, as: 2)
        watcher.do { $0.stopBrowsing(BrowseID(1), at: $1) }
        watcher.hear(try ann.all())
        #expect(watcher.events(of: 1) == [])
        #expect(watcher.events(of: 2) == [ann.found])
    }

    enum Hostile: CaseIterable {
        case noVersion, otherVersion, empty, huge, cutOff, noName, badName

        func text(_ peer: Advertised) -> [UInt8] {
            let strings: [String] =
                switch self {
                case .noVersion: ["n=Ann"]
                case .otherVersion: ["mpc=2", "n=Ann"]
                case .empty: [""]
                case .huge:
                    ["mpc=1", "n=Ann"] + (0..<20).map { "k\($0)=" + String(repeating: "x", count: 200) }
                case .cutOff: ["mpc=1", "n=Ann"]
                case .noName: ["mpc=1"]
                case .badName: ["mpc=1", "n=\u{7}"]
                }
            let bytes = strings.flatMap { [UInt8(truncatingIfNeeded: $0.utf8.count)] + Array($0.utf8) }
            return self == .cutOff ? bytes + [200, 1] : bytes
        }
    }

    @Test("a TXT record of another format does not make a peer [service.txt]", arguments: Hostile.allCases)
    func hostileText(_ kind: Hostile) throws {
        let ann = try Advertised("Ann", 1)
        let hostile = DNSRecord(ann.instance, isCacheFlush: true, ttl: 4_500, .txt(kind.text(ann)))
        var watcher = watcher()
        watcher.hear([ann.pointer(), ann.server(), hostile])
        #expect(watcher.events.isEmpty)
        watcher.hear([try ann.text()])
        #expect(watcher.events() == [ann.found])
        watcher.pass(.seconds(3))
        watcher.hear([hostile])
        watcher.pass(.milliseconds(1_000))
        #expect(watcher.events() == [ann.found, ann.lost], "it replaces what was there")
        watcher.pass(.seconds(60))
        #expect(watcher.querier.recordCount == 0)
    }

    @Test(
        "a label without a uid, or in another place, is not a peer [service.instance]",
        arguments: [
            "Ann", "Ann-aaaaaaaaaaaaaaaaaaaaaaaaa", "Ann-1aaaaaaaaaaaaaaaaaaaaaaaaa",
            "Ann_aaaaaaaaaaaaaaaaaaaaaaaaaa",
            "-aaaaaaaaaaaaaaaaaaaaaaaaab",
        ])
    func hostileLabel(_ label: String) throws {
        let chat = Binding.serviceName(.chat)
        var watcher = watcher()
        let name = try chat.child(Array(label.utf8))
        let deeper = try chat.child(Array("x".utf8)).child(Array("Ann-aaaaaaaaaaaaaaaaaaaaaaaaaa".utf8))
        watcher.hear([DNSRecord(chat, ttl: 4_500, .ptr(name)), DNSRecord(chat, ttl: 4_500, .ptr(deeper))])
        #expect(watcher.querier.recordCount == 0)
    }

    @Test("names are the same in upper and lower case [dns.name]")
    func letterCase() throws {
        let ann = try Advertised("Ann", 1)
        var watcher = watcher()
        let upper = try #require(DNSName(ann.instance.description.uppercased()))
        watcher.hear([ann.pointer(), try ann.text(), DNSRecord(upper, ttl: 120, ann.server().data)])
        #expect(watcher.events() == [ann.found])
        watcher.hear([DNSRecord("_CHAT._TCP.Local", ttl: 0, .ptr(upper))])
        watcher.pass(.seconds(2))
        #expect(watcher.events() == [ann.found, ann.lost])
    }

    @Test("messages that are not ordinary responses are ignored")
    func odd() throws {
        let ann = try Advertised("Ann", 1)
        var watcher = watcher()
        for change in [{ $0.opcode = 1 }, { $0.responseCode = 3 }] as [(inout DNSMessage) -> Void] {
            var message = DNSMessage()
            message.isResponse = true
            message.answers = try ann.all()
            change(&message)
            watcher.receive(message, PacketInfo(scope: 1, family: .v4, from: [10, 0, 0, 9], port: 5353))
        }
        watcher.hear(try ann.all(), on: 99)
        #expect(watcher.events.isEmpty)
    }
}
