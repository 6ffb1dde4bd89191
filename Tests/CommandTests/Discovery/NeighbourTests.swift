import Foundation
import Multipeer
import MultipeerCLI
import TestSupport
import Testing
import MultipeerCommandLine

@Suite("12 Discovery between processes", .inTurns)
struct NeighbourTests {
    private let type = ServiceType.random()

    @Test("eight processes all find each other, once each, and none finds itself [mdns.self]")
    func eight() async throws {
        let all = try (1...8).map { try NeighbourProcess(type, "n\($0)") }
        for one in all {
            let found = try await one.says("found", times: 7).compactMap(\.uid)
            let own = try await one.uid
            #expect(Set(found).count == 7 && !found.contains(own))
        }
        for one in all {
            #expect(one.hasSaid("found").count == 7)
            #expect(one.hasSaid("lost").isEmpty)
            try await one.quit()
        }
    }

    @Test("a process whose info changes is updated, and one that stops is lost [mdns.lost]")
    func changes() async throws {
        let (advertiser, browser) = (try NeighbourProcess(type, "ann"), try NeighbourProcess(type, "bob"))
        let uid = try await advertiser.uid
        let found = try await browser.says("found", of: uid)
        #expect(found.first?.info == ["pid": "\(advertiser.process.id)"])
        try advertiser.tell("info room=7")
        #expect(try await browser.says("updated", of: uid).first?.info == ["room": "7"])
        try browser.tell("resolve \(uid)")
        let resolved = try await browser.says("resolved", of: uid)
        #expect(resolved.first?.addresses == ["127.0.0.1:4711"])
        try advertiser.tell("stop")
        try await browser.says("lost", of: uid)
        for one in [advertiser, browser] { try await one.quit() }
    }

    @Test(
        "a killed process is lost after a check, and a suspended one is found again [mdns.reconfirm]"
    )
    func deaths() async throws {
        let browser = try NeighbourProcess(type, "bob")
        let (killed, asleep) = (try NeighbourProcess(type, "ann"), try NeighbourProcess(type, "cat"))
        let (gone, away) = (try await killed.uid, try await asleep.uid)
        for uid in [gone, away] { try await browser.says("found", of: uid) }
        killed.process.signal(SIGKILL)
        asleep.process.signal(SIGSTOP)
        #expect(killed.process.wait() == 128 + SIGKILL)
        #expect(browser.hasSaid("lost").isEmpty)
        for uid in [gone, away] { try browser.tell("reconfirm \(uid)") }
        for uid in [gone, away] { try await browser.says("lost", of: uid) }
        asleep.process.signal(SIGCONT)
        try await browser.says("found", of: away, times: 2)
        #expect(browser.hasSaid("found").filter { $0.uid == gone }.count == 1)
        for one in [asleep, browser] { try await one.quit() }
    }
}
