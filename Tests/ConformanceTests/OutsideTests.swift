import Foundation
import MultipeerCommandLine
import TestSupport
import Testing

@testable import MultipeerConformance

@Suite("Judging from outside", .inTurns, .serialized)
struct OutsideTests {
    private static let folder = URL(filePath: ChildProcess.ownPath).deletingLastPathComponent()
    private static let program = "'\(folder.appending(path: "multipeer-conform").path)'"

    /// Judges a peer that accepts invitations at an address.
    private static func judge(
        _ target: OutsidePeer.Address, _ ids: [String]
    ) throws -> [CaseOutcome] {
        var selection = CaseSelection()
        selection.words = ids
        let peer = try OutsideProbe.examine(target)
        let plan = OutsideProbe.plan(peer, at: target, program: program, cases: selection.cases, seed: 1)
        return TestRunner(plan)()
    }

    private static func judge(bug: String?, _ ids: [String]) async throws -> [CaseOutcome] {
        try await Worker("outside").run { () throws(CommandError) in
            let peer = AcceptingPeer(shim: "\(program) peer" + (bug.map { " --bug \($0)" } ?? ""))
            defer { peer.stop() }
            return Result { try judge(try peer.address(), ids) }
        }.get()
    }

    @Test(
        "a peer without a fault passes, with handshakes that it dials and that it answers")
    func passes() async throws {
        let outcomes = try await OutsideTests.judge(
            bug: nil, ["LINK-11/tester-lower", "LINK-06/tester-higher", "FRM-06"])
        #expect(outcomes.count == 4)
        for outcome in outcomes { #expect(outcome.verdict == .pass, "\(outcome.name): \(outcome.reason)") }
    }

    @Test(
        "a planted fault is convicted on the wire alone",
        arguments: [
            ("hello-incomplete-accepted", "LINK-06/tester-lower", "CLOSE(PROTOCOL) expected"),
            ("answers-close", "FRM-06/tester-higher", "CLOSE is answered"),
        ])
    func convicts(_ bug: String, _ id: String, _ sign: String) async throws {
        let outcomes = try await OutsideTests.judge(bug: bug, [id])
        #expect(outcomes.map(\.verdict) == [.fail])
        #expect(outcomes.allSatisfy { $0.reason.contains(sign) && !$0.reason.hasPrefix("after") })
    }

    @Test("a case that needs control of the peer is not judged, which is not that it passed")
    func unjudged() async throws {
        let outcomes = try await OutsideTests.judge(bug: nil, ["MSG-01", "LINK-02"])
        #expect(outcomes.allSatisfy { $0.verdict == .skip && $0.isUnjudged })
        let order = Report.Invocation(shim: "shim", seed: 1, isStrict: false)
        let text = Report(order, outcomes).text
        #expect(text.contains("not judged, since they need control of the peer: 2 cases\n  LINK-02  MSG-01"))
        #expect(text.contains("\(outcomes.count) SKIP"))
    }

    @Test("a peer that is reached but breaks the rules of every link is convicted at once")
    func notLinked() async throws {
        await #expect(throws: OutsideProbe.NotLinked.self) {
            _ = try await OutsideTests.judge(bug: "mac-role-wrong", ["LINK-12/tester-lower"])
        }
    }

    @Test("only existing cases of the level core are judged from outside")
    func list() {
        let core = Suite.cases.filter { $0.level == .core }.map(\.id)
        #expect(OutsideCases.judged.isSubset(of: core))
    }

    @Test("an address where no peer accepts is a fault of the run")
    func silent() throws {
        let socket = try TCPSocket.refusing()
        let target = try #require(OutsidePeer.Address("127.0.0.1:\(socket.localPort)"))
        #expect(throws: SuiteFault.self) {
            _ = try OutsideProbe.examine(target, within: .milliseconds(50))
        }
        withExtendedLifetime(socket) {}
    }

    @Test("a case that waits does not run alongside others of the same peer")
    func oneTester() throws {
        let waiting = try #require(Suite.cases.first { $0.isWaiting })
        var plan = TestPlan(shim: "", cases: [waiting], seed: 1)
        #expect(plan.runsAlongside(waiting))
        plan.isOutside = true
        #expect(!plan.runsAlongside(waiting))
    }

    @Test(
        "multipeer link, started again after each link, passes, also where IPv6 is all there is",
        arguments: [false, true])
    func link(isIPv6Alone: Bool) async throws {
        let home = FileManager.default.temporaryDirectory.appending(path: "outside-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: home) }
        // Otherwise an address of the machine that no other test uses, so that the port is free each time.
        let numbers = "\(Int.random(in: 64...127)).\(Int.random(in: 0...255)).\(Int.random(in: 1...254))"
        let host = isIPv6Alone ? "[::1]" : "127.\(numbers)"
        let judge: @Sendable () throws -> [CaseOutcome] = {
            try OutsideTests.judgeLink(at: host, in: home.path)
        }
        let outcomes = try await Worker("outside").run {
            () throws(CommandError) -> Result<[CaseOutcome], any Error> in
            guard isIPv6Alone else { return Result { try judge() } }
            return NetworkNamespace(["addr del 127.0.0.1/8 dev lo"]).run { reason in
                Result { reason == nil ? try judge() : [] }
            }
        }.get()
        #expect(outcomes.count == (isIPv6Alone && !NetworkNamespace.isPermitted ? 0 : 2))
        for outcome in outcomes { #expect(outcome.verdict == .pass, "\(outcome.name): \(outcome.reason)") }
    }

    private static func judgeLink(at host: String, in home: String) throws -> [CaseOutcome] {
        let link =
            "HOME='\(home)' '\(folder.appending(path: "multipeer").path)' link --name ann --yes "
            + "--unverified --quiet --listen \(host):4761 </dev/null >/dev/null 2>&1"
        let loop = "trap 'kill $!; exit' TERM; while :; do \(link) & wait $!; done"
        let shell = try ShimProcess("/bin/sh -c \"\(loop.replacing("$!", with: "\\$!"))\"")
        defer { shell.signal(SIGTERM) }
        let target = try #require(OutsidePeer.Address(host))
        return try judge(target, ["LINK-11/tester-lower", "LINK-13/tester-higher"])
    }

    @Test(
        "addresses of peers",
        arguments: [
            ("192.0.2.1", "192.0.2.1:4761"), ("192.0.2.1:5000", "192.0.2.1:5000"), ("192.0.2", nil),
            ("::1", "[::1]:4761"), ("[::1]", "[::1]:4761"), ("[2001:db8::1]:5000", "[2001:db8::1]:5000"),
            ("fe80::1%7", "[fe80::1%7]:4761"), ("[fe80::1%7]:5000", "[fe80::1%7]:5000"), ("fe80::1", nil),
            ("[fe80::1]:5000", nil), ("[192.0.2.1]:5000", nil),
            ("192.0.2.1:0", nil), ("192.0.2.1:70000", nil), ("192.0.2.1:1:2", nil), ("192.0.2.256", nil),
        ] as [(String, String?)])
    func addresses(_ text: String, _ expected: String?) {
        #expect(OutsidePeer.Address(text)?.text == expected)
    }
}
