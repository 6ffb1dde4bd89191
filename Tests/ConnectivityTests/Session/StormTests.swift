import Foundation
import MultipeerTransport
import TestSupport
import Testing

@Suite("Calls from many threads", .inTurns(within: .seconds(3_600)))
struct StormTests {
    @Test(
        "all methods are called on several threads at once, and then the devices connect and talk")
    func storm() async throws {
        for round in 0..<Rounds.each(of: 1, unless: 4) { try await Storm(seed: UInt64(round)).run() }
    }
}

/// Two devices, and threads that do anything to either of them, in an order that the seed determines as far as
/// possible.
private struct Storm {
    private static let threads = 4
    private static let deeds = 6

    let seed: UInt64
    let ann: TestApplication
    let bob: TestApplication

    init(seed: UInt64) {
        self.seed = seed
        let network = InMemoryDiscovery()
        ann = TestApplication("ann", on: network)
        bob = TestApplication("bob", on: network)
        (ann.partner, bob.partner) = (bob, ann)
    }

    func run() async throws {
        var remains = Remains()
        let handsets = [ann, bob]
        for handset in handsets {
            handset.begin()
            remains.add(handset)
        }
        if seed.isMultiple(of: 2) {
            try await inTime { [ann, bob] in await ann.until { $0.isConnected(to: bob.peer) } }
        }
        let done = (0..<Storm.threads).map { rage(UInt64($0)) }
        for (thread, signal) in done.enumerated() {
            do {
                try await inTime { await signal.value(onCancel: { signal.send(()) }) }
            } catch {
                Issue.record("seed \(seed): thread \(thread) hangs")
                return
            }
        }
        try await calm()
        for handset in handsets {
            remains.add(handset)
            handset.perform(.release)
        }
        do { try await atLast { remains.areGone } } catch { Issue.record("seed \(seed): \(remains)") }
    }

    private func rage(_ thread: UInt64) -> Promise<Void> {
        let done = Promise<Void>()
        Thread.detachNewThread { [ann, bob, seed] in
            var dice = Seeded(seed << 8 | thread)
            for _ in 0..<Storm.deeds {
                let handset = Bool.random(using: &dice) ? ann : bob
                let deed = CallbackAction.allCases.randomElement(using: &dice) ?? .send
                handset.perform(deed)
                if deed == .release { handset.begin() }
                if deed == .dropDelegates { handset.takeDelegates() }
                _ = handset.session?.connectedPeers
            }
            done.send(())
        }
        return done
    }

    /// What began in the storm may still end a link or two: they are asked again until they can talk.
    private func calm() async throws {
        for handset in [ann, bob] {
            handset.keepQuiet()
            handset.takeDelegates()
            handset.advertise()
            handset.browse()
        }
        let talk = Task { [ann, bob] in
            var invited: ContinuousClock.Instant?
            while !Task.isCancelled {
                let isConnected = ann.session?.connectedPeers.contains(bob.peer) == true
                // A newer invitation replaces one that is in progress.
                if !isConnected, invited.map({ .now - $0 > .seconds(5) }) ?? ann.known.contains(bob.peer) {
                    invited = .now
                    ann.perform(.invite)
                }
                try? ann.session?.send(Data("calm".utf8), toPeers: [bob.peer], with: .reliable)
                try? await Task.sleep(for: .milliseconds(20))
            }
        }
        defer { talk.cancel() }
        do {
            try await inTime { [bob] in await bob.until { $0.messages.last == Data("calm".utf8) } }
        } catch {
            Issue.record(
                """
                seed \(seed): no talk after the storm. ann heard \(ann.states(of: bob.peer)), \
                bob \(bob.states(of: ann.peer))
                """)
        }
    }
}
