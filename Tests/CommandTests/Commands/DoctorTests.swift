import Foundation
import Multipeer
import MultipeerCLI
import MultipeerCommandLine
import TestSupport
import Testing

@Suite("Command: doctor", .inTurns)
struct DoctorTests {
    private let ann = ProcFileSystem.Process(id: 7, name: "avahi-daemon")

    @Test("it finds nothing wrong on the loopback interface, and leaves nothing behind")
    func healthy() async throws {
        let ending = try await Command.run("doctor", "--json")
        #expect(ending.code == 0, "\(ending.text)")
        #expect(ending.errors.isEmpty)
        let diagnosis = try #require(
            try JSONSerialization.jsonObject(with: Data(ending.output)) as? [String: Any])
        #expect(diagnosis["problems"] as? Int == 0)
        let findings = try #require(diagnosis["findings"] as? [[String: String]])
        let topics = Set(findings.compactMap { $0["topic"] })
        #expect(
            topics.isSuperset(of: [
                "interface", "reach", "multicast", "port 5353", "responders", "firewall", "clock", "OpenSSL",
                "descriptors", "buffers",
            ]))
        #expect(findings.contains { $0["text"] == "lo, IPv4: packets loop back" })
        #expect(!findings.contains { $0["topic"] == "multicast" && $0["text"]?.hasPrefix("lo") != true })
    }

    @Test("a missing interface is a problem, and the exit code is 1")
    func missing() async throws {
        let ending = try await Command.run("doctor", "--interface", "nothing0")
        #expect(ending.code == 1)
        #expect(ending.text.contains("problem  interface    nothing0 does not exist\n"))
        #expect(ending.errors == "multipeer: 2 problems found\n")
    }

    @Test("another machine with the own id is a problem, with the command that makes a new id")
    func ownID() throws {
        let uid = UID(random: 1, 2)
        let digits = "#" + uid.bytes.prefix(4).map { String(format: "%02x", $0) }.joined()
        let found = OwnIDCheck(uid, in: "/x/ann.pem", .elsewhere("192.0.2.7")).finding
        #expect(found.verdict == .problem && found.topic == "id")
        #expect(found.text.contains("192.0.2.7") && found.text.contains(digits))
        #expect(found.hint?.contains("identity new --force --out /x/ann.pem") == true)
        #expect(OwnIDCheck(uid, in: "/x", .alone).finding.verdict == .ok)
        let untried = OwnIDCheck(uid, in: "/x", .untried).finding
        #expect(untried.verdict == .note && untried.hint?.contains("--send") == true)
    }

    @Test("another command of this machine that has the own id is no other machine [mdns.self]")
    func ownIDHere() async throws {
        let folder = try Folder()
        let file = try folder.write("text", to: "file")
        let id = folder.path("id")
        let type = "t-\(UInt32.random(in: 0...99_999))"
        let waiting = try Command(["receive", "--yes", "--id", id, "--type", type, folder.path("in")])
        #expect(try await waiting.says("waiting as"))
        let settings = ["XDG_CONFIG_HOME": folder.path("settings")]
        #expect(try await Command.run("config", "identity", id, environment: settings).code == 0)
        let doctor = try await Command.run("doctor", "--send", "--type", type, environment: settings)
        #expect(doctor.code == 0, "\(doctor.text)")
        #expect(doctor.text.contains("no other machine announces it now"), "\(doctor.text)")
        let untried = try await Command.run("doctor", environment: settings)
        #expect(untried.code == 0 && untried.text.contains("not tested whether another machine has it"))
        let send = try await Command.run(
            "send", "-u", file, "ann", "--id", id, "--type", type, "--timeout", "2", environment: settings)
        #expect(send.code == 1 && !send.errors.contains("another machine"), "\(send.errors)")
    }

    @Test("sockets are read from the kernel's table, and their owners from their descriptors")
    func sockets() throws {
        let folder = try Folder()
        for name in ["net", "7/fd", "8/fd"] {
            try FileManager.default.createDirectory(
                atPath: folder.path(name), withIntermediateDirectories: true)
        }
        let head =
            "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref\n"
        let tail = " 00000000:0000 07 00000000:00000000 00:00000000 00000000   101        0 "
        _ = try folder.write(
            head + "  1: FB0000E0:14E9\(tail)4711 2 0 0\n  2: 00000000:0044\(tail)4712 2 0 0\n strange\n",
            to: "net/udp")
        _ = try folder.write(head + "  1: 0000000000000000:14E9\(tail)4713 2 0 0\n", to: "net/udp6")
        _ = try folder.write("avahi-daemon\n", to: "7/comm")
        _ = try folder.write("cat\n", to: "8/comm")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("7/fd/3"), withDestinationPath: "socket:[4711]")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("8/fd/0"), withDestinationPath: "/dev/null")
        let proc = ProcFileSystem(folder.path("."))
        #expect(proc.sockets(on: 5_353).map(\.inode) == [4711, 4713])
        #expect(proc.sockets(on: 5_353).first == UDPTableEntry(port: 5_353, user: 101, inode: 4711))
        #expect(proc.owners(of: [4711, 4712, 4713]) == [4711: [ann]])
        #expect(proc.processes.map(\.name) == ["avahi-daemon", "cat"])
        #expect(proc.number("net/nothing") == nil)
    }

    @Test(
        "the largest packet that passes is found to the byte, with three connections at a time",
        arguments: [500, 576, 700, 1_280, 1_399, 1_400, 1_499])
    func packets(most: Int) {
        var search = PathSearch(arrived: 500, lost: 1_500)
        var rounds = 0
        while !search.sizes.isEmpty {
            rounds += 1
            #expect(search.sizes.count <= 3 && rounds <= 7)
            search.note(search.sizes.map { ($0, $0 <= most) })
        }
        #expect(search.arrived == most)
    }

    @Test("a way that swallows large packets is a problem, with the size that passes and what to do")
    func narrow() throws {
        func finding(_ result: PathProbe.Result) -> Finding {
            PathProbe(
                address: SocketAddress(.loopbackV4, port: 4761), interface: "eth0", result: result
            ).finding
        }
        #expect(finding(.open(1_500)) == .ok("packets 127.0.0.1:4761", "those of 1500 bytes arrive"))
        let narrow = finding(.narrow(size: 1_400, most: 1_500))
        #expect(narrow.verdict == .problem)
        #expect(narrow.text.hasPrefix("those of more than 1400 bytes vanish"))
        #expect(narrow.hint?.contains("'ip link set eth0 mtu 1400'") == true)
        #expect(finding(.silent).verdict == .problem)
    }

    @Test("a port that its holder does not share is a problem, and the holder is named")
    func port() {
        #expect(PortCheck(holders: [], refusal: nil).finding == .ok("port 5353", "free"))
        #expect(
            PortCheck(holders: [ann, nil], refusal: nil).finding
                == .ok("port 5353", "shared with avahi-daemon (process 7), a process of another user"))
        #expect(
            PortCheck(holders: [nil], refusal: EADDRINUSE, isSharedOtherwise: true).finding.verdict == .ok)
        let taken = PortCheck(holders: [ann], refusal: EADDRINUSE).finding
        #expect(taken.verdict == .problem)
        #expect(taken.text == "in use by avahi-daemon (process 7), which does not share it")
        #expect(taken.hint?.contains("disallow-other-stacks=no") == true)
        #expect(PortCheck(holders: [], refusal: EACCES).finding.text.hasSuffix("permission denied"))
    }

    @Test("multicast that does not come back is a problem, but silent neighbours are not")
    func multicast() {
        func verdict(_ outcome: MulticastCheck.Outcome, isLoopback: Bool = false) -> Finding.Verdict {
            MulticastCheck(interface: "eth0", isLoopback: isLoopback, family: "IPv4", outcome: outcome)
                .finding.verdict
        }
        #expect(verdict(.heard(others: 2)) == .ok)
        #expect(verdict(.heard(others: 0), isLoopback: true) == .ok)
        #expect(verdict(.heard(others: 0)) == .note)
        #expect(verdict(.untried) == .note && verdict(.withoutPort) == .note)
        #expect(verdict(.silent) == .problem)
        #expect(verdict(.failed("no such device")) == .problem && verdict(.dropped) == .problem)
    }

    @Test("without an interface over which peers can be reached there is a problem")
    func reach() {
        typealias Interface = InterfaceCheck.Interface
        let lo = Interface(name: "lo", isLoopback: true, isMulticast: false, addresses: ["127.0.0.1/8"])
        let hidden = Interface(name: "eth0", addresses: ["192.0.2.1/24"], isAllowed: false)
        let tunnel = Interface(name: "wg0", isMulticast: false, addresses: ["192.0.2.1/24"])
        let down = Interface(name: "eth1", isUp: false, addresses: [])
        func last(_ interfaces: [Interface], wanted: [String] = []) -> Finding? {
            InterfaceCheck(interfaces, wanted: wanted).findings.last
        }
        #expect(last([Interface(name: "eth0", addresses: ["192.0.2.1/24"])])?.verdict == .ok)
        #expect(last([lo, hidden], wanted: ["lo"])?.verdict == .note)
        #expect(last([lo, tunnel, down])?.verdict == .problem)
        #expect(InterfaceCheck([tunnel]).findings.first?.verdict == .note)
    }

    @Test(
        "firewall rules that could drop incoming packets are noticed",
        arguments: [
            (
                "table inet f {\n chain input {\n  type filter hook input priority 0; policy drop;\n }\n}",
                true
            ),
            (
                "table inet f {\n chain input {\n  type filter hook input priority 0; policy accept;\n  tcp dport 25 drop\n }\n}",
                true
            ),
            (
                "table inet f {\n chain input {\n  type filter hook input priority 0; policy accept;\n }\n chain forward {\n  drop\n }\n}",
                false
            ),
            ("", false),
        ])
    func firewall(_ rules: String, _ isSuspicious: Bool) {
        let finding = FirewallCheck(rules: .text(rules)).finding
        #expect(finding.verdict == (isSuspicious ? .note : .ok))
        #expect((finding.hint != nil) == isSuspicious)
    }

    @Test("a rule for what this machine sends is not taken for one about what it gets")
    func directions() {
        func text(_ hook: String, _ rule: String) -> String {
            let chain = "chain c {\n  type filter hook \(hook) priority 0; policy accept;\n  \(rule)\n }"
            return FirewallCheck(rules: .text("table inet f {\n \(chain)\n}")).finding.text
        }
        #expect(
            text("output", "udp dport 5353 drop").hasPrefix("1 rule drops outgoing packets; a rule names"))
        #expect(text("input", "udp dport 5353 drop").hasPrefix("1 rule drops incoming packets; a rule names"))
        #expect(text("forward", "udp dport 5353 drop") == "no rule drops packets to or from this machine")
    }

    @Test("rules that cannot be read are a note, and so are those of the old filter")
    func unreadable() {
        #expect(FirewallCheck(rules: .forbidden, services: ["ufw"]).finding.text.hasSuffix("created by ufw"))
        #expect(FirewallCheck(rules: .unlisted).finding.verdict == .ok)
        #expect(FirewallCheck(rules: .unlisted, oldTables: ["filter"]).finding.verdict == .note)
    }

    @Test("a clock that was never set is a problem, and so are too few descriptors")
    func machine() {
        func findings(time: Double, descriptors: Int, buffer: Int?) -> [Finding.Verdict] {
            MachineCheck(
                time: time, uptime: 100, awake: 40, openSSL: "OpenSSL 3", descriptors: descriptors,
                buffer: buffer, confinement: nil
            ).findings.map(\.verdict)
        }
        #expect(findings(time: 1_800_000_000, descriptors: 1_024, buffer: 4 << 20) == [.ok, .ok, .ok, .ok])
        #expect(findings(time: 1_000, descriptors: 64, buffer: 212_992) == [.problem, .ok, .problem, .note])
        #expect(findings(time: 1_800_000_000, descriptors: .max, buffer: nil) == [.ok, .ok, .ok, .note])
    }

    @Test("avahi that disallows other stacks is a problem")
    func responders() {
        #expect(ResponderCheck(running: [], avahi: nil).finding.verdict == .ok)
        #expect(ResponderCheck(running: [ann], avahi: "#disallow-other-stacks=yes\n").finding.verdict == .ok)
        #expect(
            ResponderCheck(running: [ann], avahi: "[server]\ndisallow-other-stacks = yes\n").finding.verdict
                == .problem)
    }

    @Test("the hint stands below its finding")
    func text() {
        let diagnosis = Diagnosis([.ok("a", "fine"), .problem("topic", "bad", hint: "do it")])
        #expect(diagnosis.text == "ok       a      fine\nproblem  topic  bad\n                -> do it\n")
        #expect(diagnosis.problems == 1)
    }

    @Test("what a port answers decides whether a firewall is named")
    func probes() {
        func findings(_ tcp: AddressProbe.Answer, _ udp: AddressProbe.Answer) -> [Finding] {
            AddressProbe(
                address: SocketAddress(.v4(0xC000_0201), port: 4_761), own: .v4(0xC000_0202), tcp: tcp,
                udp: udp
            ).findings
        }
        #expect(findings(.open, .refused).map(\.verdict) == [.ok, .ok])
        #expect(findings(.open, .open).last?.text.contains("so do the answers") == true)
        #expect(findings(.silent, .silent).map(\.verdict) == [.problem, .note])
        #expect(findings(.silent, .silent).allSatisfy { $0.hint?.contains("firewall") == true })
        #expect(findings(.refused, .refused).map(\.verdict) == [.problem, .ok])
        #expect(findings(.failed("no route"), .failed("no route")).map(\.verdict) == [.problem, .note])
        #expect(findings(.open, .open).allSatisfy { $0.text.hasSuffix("from 192.0.2.2") })
    }

    @Test("what has not arrived is a problem, and the hint depends on whether anything has")
    func arrivals() {
        func findings(_ arrivals: WayBack.Arrivals) -> [Finding] {
            WayBack.findings(arrivals, from: .v4(0xC000_0201), at: 4_761)
        }
        #expect(findings(.init(tcp: true, udp: true)).map(\.verdict) == [.ok, .ok])
        #expect(findings(.init(tcp: true)).map(\.verdict) == [.ok, .problem])
        #expect(findings(.init(tcp: true)).last?.hint == "a firewall here has to let in UDP port 4761")
        #expect(findings(.init()).allSatisfy { $0.hint?.hasPrefix("is 'multipeer doctor") == true })
    }

    @Test("what was open once stays so, and everything else is the last answer")
    func probesTogether() {
        func probe(_ tcp: AddressProbe.Answer, _ udp: AddressProbe.Answer) -> AddressProbe {
            AddressProbe(address: SocketAddress(.v4(1), port: 4_761), own: nil, tcp: tcp, udp: udp)
        }
        let both = probe(.refused, .open).or(probe(.open, .refused))
        #expect(both.isOpen)
        #expect(!probe(.open, .open).or(probe(.silent, .silent)).or(probe(.open, .open)).findings.isEmpty)
        #expect(probe(.silent, .silent).or(probe(.refused, .refused)).tcp == .refused)
    }

    @Test("two doctors test both ways")
    func both() async throws {
        let (one, other) = (try ReservedPort.next(), try ReservedPort.next())
        func run(_ own: UInt16, _ there: UInt16) async throws -> Command.Ending {
            try await Command.run(
                "doctor", "127.0.0.1:\(there)", "--both", "--port", "\(own)", "--timeout", "30")
        }
        async let first = run(one, other)
        async let second = run(other, one)
        for (ending, own, there) in [(try await first, one, other), (try await second, other, one)] {
            #expect(ending.code == ExitCode.success.rawValue, "\(ending.text)")
            #expect(ending.text.contains("TCP 127.0.0.1:\(there)  accepts connections"))
            #expect(ending.text.contains("UDP 127.0.0.1:\(there)  datagrams arrive, and so do the answers"))
            for kind in ["TCP", "UDP"] {
                let line = try #require(
                    ending.text.split(separator: "\n").first { $0.contains("\(kind) from") })
                #expect(line.hasPrefix("ok ") && line.hasSuffix("reaches port \(own) here"))
            }
        }
        let name = try await Command.run("doctor", "ann", "--both")
        #expect(name.code == ExitCode.usage.rawValue)
        let holder = try Socket.listening(on: SocketAddress(.anyV4, port: one))
        let busy = try await Command.run("doctor", "127.0.0.1:\(other)", "--both", "--port", "\(one)")
        #expect(busy.code == ExitCode.system.rawValue && busy.errors.contains("port \(one) is in use here"))
        withExtendedLifetime(holder.localAddress) {}
    }

    @Test("doctor tries the TCP and the UDP port of a peer, whose user is not asked")
    func peer() async throws {
        var configuration = Session.Configuration()
        configuration.listenAddresses = [.loopback]
        configuration.port = try ReservedPort.next()
        let session = try Session(peer: PeerID(displayName: "ann"), configuration: configuration)
        _ = try await session.connectionData()
        let address = "127.0.0.1:\(configuration.port ?? 0)"
        let ending = try await Command.run("doctor", address)
        #expect(ending.code == ExitCode.success.rawValue)
        #expect(ending.text.contains("ok       TCP \(address)  accepts connections, from 127.0.0.1"))
        #expect(ending.text.contains("ok       UDP \(address)  datagrams arrive"))
        let closed = try await Command.run("doctor", "127.0.0.1:1024")
        #expect(closed.code == ExitCode.linkFailed.rawValue)
        #expect(closed.text.contains("problem  TCP 127.0.0.1:1024  nothing listens at this port"))
        await session.disconnect()
    }
}
