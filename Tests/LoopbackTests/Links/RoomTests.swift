import Foundation
import Multipeer
import MultipeerCore
import MultipeerTransport
import TestSupport
import Testing

/// 3 in the ordinary tests; MULTIPEER_ROUNDS sets another number, 1,000 before a release.
private let rounds = ProcessInfo.processInfo.environment["MULTIPEER_ROUNDS"].flatMap { Int($0) } ?? 3

@Suite("6 A room of eight", .inTurns(within: .seconds(rounds > 3 ? 7_200 : 300)))
struct RoomTests {
    @Test(
        "eight that all advertise, browse and invite link once each, and no link ends [select.pending] [invite.glare]"
    )
    func eight() async throws {
        for _ in 0..<rounds {
            let network = try Ground.memory.network()
            let callers = try (0..<8).map {
                try Caller("p\($0)", network, .loopback(timeLimit: .seconds(20)))
            }
            try await within { await Self.meet(callers) }
            for caller in callers { #expect(await caller.session.connectedPeers.count == 7) }
            for caller in callers { await caller.stop() }
        }
    }

    /// Returns when each has received that all others are connected. A link that ends is an issue.
    private static func meet(_ callers: [Caller]) async {
        await withTaskGroup(of: Void.self) { group in
            for caller in callers {
                group.addTask { await accept(caller) }
                group.addTask { await invite(caller) }
            }
            await withTaskGroup(of: Void.self) { listeners in
                for caller in callers { listeners.addTask { await listen(caller) } }
                do {
                    for caller in callers { try await caller.start() }
                } catch {
                    Issue.record(error)
                }
                await listeners.waitForAll()
            }
            group.cancelAll()
        }
    }

    private static func listen(_ caller: Caller) async {
        var linked: Set<UID> = []
        for await event in caller.session.events {
            switch event {
            case .peer(let peer, .connected):
                #expect(linked.insert(peer.uid).inserted, "\(caller.peer) is linked to \(peer) again")
            case .peer(let peer, .notConnected(let reason)):
                Issue.record("\(caller.peer) lost \(peer): \(reason)")
                linked.remove(peer.uid)
            default: break
            }
            if linked.count == 7 { return }
        }
    }

    private static func accept(_ caller: Caller) async {
        await withTaskGroup(of: Void.self) { group in
            for await invitation in caller.advertiser.invitations {
                group.addTask {
                    // The mesh may be quicker, and cancelling ends what goes on at the end of a round.
                    _ = try? await invitation.accept(into: caller.session)
                }
            }
        }
    }

    private static func invite(_ caller: Caller) async {
        await withTaskGroup(of: Void.self) { group in
            for await case .found(let found) in caller.browser.events {
                group.addTask { _ = try? await caller.browser.invite(found.peer, to: caller.session) }
            }
        }
    }
}
