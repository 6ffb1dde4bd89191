import MultipeerCore
import MultipeerDiscovery
import TestSupport
import Testing

@Suite("12.2 Peers as DNS records", .computing)
struct BindingTests {
    private static let uid = UID(high: 0x0011_2233_4455_6677, low: 0x8899_AABB_CCDD_EEFF)
    private static let tail = "-aaisem2ekvthpcezvk54zxpo74"

    private func peer(_ name: String) throws -> PeerID { try PeerID(validating: Self.uid, displayName: name) }

    private func label(_ name: String, attempt: Int = 0) throws -> String? {
        String(validating: Binding.label(for: try peer(name), attempt: attempt), as: UTF8.self)
    }

    @Test("an instance is the display name and the uid in base32 [service.instance]")
    func label() throws {
        #expect(try label("Ann") == "Ann" + Self.tail)
        #expect(try label("Ann v1.2") == "Ann v1.2" + Self.tail)
        #expect(Binding.serviceName(try ServiceType(parsing: "chat")) == "_chat._tcp.local")
        let instance = Binding.instanceName(try peer("Ann"), try ServiceType(parsing: "chat"))
        #expect(instance == DNSName("Ann\(Self.tail)._chat._tcp.local"))
    }

    @Test(
        "a long display name is truncated at a character, to a label of at most 63 bytes [service.instance]"
    )
    func cut() throws {
        let name = String(repeating: "a", count: 35)
        #expect(try label(name + "bc") == name + "b" + Self.tail)
        #expect(try label(name + "ä") == name + Self.tail)
        #expect(try label(name + "e\u{301}") == name + Self.tail, "an accent stays with its letter")
        #expect(try label("👨‍👩‍👧‍👦👨‍👩‍👧‍👦") == "👨‍👩‍👧‍👦" + Self.tail)
    }

    @Test("a further attempt changes the readable part, never the uid [service.instance]")
    func attempts() throws {
        #expect(try label("Ann", attempt: 1) == "Ann (2)" + Self.tail)
        let long = String(repeating: "a", count: 63)
        for attempt in [1, 9, 99] {
            let label = Binding.label(for: try peer(long), attempt: attempt)
            #expect(label.count == 63)
            #expect(Binding.uid(inLabel: label) == Self.uid)
        }
    }

    @Test("the uid is read from the label, whatever its case [service.instance]")
    func uid() throws {
        var dice = Seeded(1)
        for _ in 0..<200 {
            let uid = try #require(UID(dice.bytes(16)))
            let label = Binding.label(for: try PeerID(validating: uid, displayName: "a-b-c"))
            #expect(Binding.uid(inLabel: label) == uid)
            #expect(
                Binding.uid(inLabel: Array(String(decoding: label, as: UTF8.self).uppercased().utf8)) == uid)
        }
        #expect(Binding.uid(inLabel: Array(Self.tail.utf8)) == Self.uid, "the name is for people only")
    }

    @Test(
        "a label that does not end with a uid belongs to no peer [service.instance]",
        arguments: [
            "", "Ann", String(tail.dropFirst()), "Ann" + tail + "a", "Ann_" + tail.dropFirst(),
            "Ann-aaisem2ekvthpcezvk54zxpo75", "Ann-aaisem2ekvthpcezvk54zxpo7é",
            "Ann-aaisem2ekvthpcezvk54zxpo1a",
        ])
    func noUID(_ label: String) { #expect(Binding.uid(inLabel: Array(label.utf8)) == nil) }

    private func strings(_ strings: [String]) -> [UInt8] {
        strings.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
    }

    private func read(_ strings: [String]) -> DiscoveredPeer? {
        Binding.read(txt: self.strings(strings), uid: Self.uid)
    }

    @Test("the TXT record has the version, the name, and the info in the order of its keys [service.txt]")
    func txt() throws {
        let info = try DiscoveryInfo(validating: ["b": "2", "a": "1", "D": ""])
        let txt = Binding.txt(try peer("Änn"), info)
        #expect(txt == strings(["mpc=1", "n=Änn", "D=", "a=1", "b=2"]))
        let found = Binding.read(txt: txt, uid: Self.uid)
        #expect(found == DiscoveredPeer(peer: try peer("Änn"), info: info.entries))
    }

    @Test("the number of a code is announced, and an invalid one is ignored [code.number]")
    func codeNumber() throws {
        var info = try DiscoveryInfo(validating: ["a": "1"])
        info.codeNumber = 7
        let txt = Binding.txt(try peer("Ann"), info)
        #expect(txt == strings(["mpc=1", "n=Ann", "c=7", "a=1"]))
        let found = Binding.read(txt: txt, uid: Self.uid)
        #expect(found == DiscoveredPeer(peer: try peer("Ann"), info: ["a": "1"], codeNumber: 7))
        #expect(found != DiscoveredPeer(peer: try peer("Ann"), info: ["a": "1"]))
        #expect(read(["mpc=1", "n=Ann", "C=999"])?.codeNumber == 999)
        for number in ["0", "1000", "", "x", "+7", "-1", "7.0", "00007", "99999999999999999999"] {
            #expect(read(["mpc=1", "n=Ann", "c=\(number)"])?.codeNumber == nil, "\(number)")
            #expect(read(["mpc=1", "n=Ann", "c=\(number)"])?.info == [:])
        }
    }

    @Test(
        "a record of another version, or without a valid name, is ignored [service.txt]",
        arguments: [
            [], ["n=Ann"], ["mpc=2", "n=Ann"], ["mpc", "n=Ann"], ["mpc=", "n=Ann"], ["mpc=11", "n=Ann"],
            ["mpc=1"], ["mpc=1", "n="], ["mpc=1", "n"], ["mpc=1", "n=a\u{7}"],
            ["mpc=1", "n=" + String(repeating: "a", count: 64)], ["mpc=2", "n=Ann", "mpc=1"],
        ])
    func notOurs(_ strings: [String]) { #expect(read(strings) == nil) }

    @Test("malformed entries are skipped, and of equal keys the first counts [service.txt]")
    func odd() throws {
        let found = read([
            "MPC=1", "", "=x", "N=Ann", "Key=1", "key=2", "flag", "bad\u{1}=1", "a=b=c", "n=Bob",
        ])
        #expect(found?.info == ["Key": "1", "flag": "", "a": "b=c"])
        #expect(found?.peer.displayName == "Ann")
        let binary = strings(["mpc=1", "n=Ann"]) + [4, 107, 61, 0xFF, 0xFE]
        #expect(Binding.read(txt: binary, uid: Self.uid)?.info == [:], "a value is a text")
    }

    @Test("a record that is cut off, or longer than 1,300 bytes, is not read [service.txt]")
    func form() throws {
        let good = strings(["mpc=1", "n=Ann"])
        #expect(Binding.read(txt: good + [3, 97, 61], uid: Self.uid) == nil)
        let longest = good + [UInt8](repeating: 0, count: 1_300 - good.count)
        #expect(Binding.read(txt: longest, uid: Self.uid) != nil)
        #expect(Binding.read(txt: longest + [0], uid: Self.uid) == nil)
    }

    @Test("another name makes a different discovered peer, though its id is the same")
    func names() throws {
        let ann = DiscoveredPeer(peer: try peer("Ann"), info: [:])
        #expect(ann != DiscoveredPeer(peer: try peer("Anna"), info: [:]))
        #expect(ann != DiscoveredPeer(peer: try peer("Ann"), info: ["a": "1"]))
    }
}
