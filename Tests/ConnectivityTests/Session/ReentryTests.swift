import Foundation
import Multipeer
import MultipeerTransport
import TestSupport
import Testing

/// The rounds of the long tests: a few, or as many as `MULTIPEER_ROUNDS` sets.
enum Rounds {
    static let wanted = ProcessInfo.processInfo.environment["MULTIPEER_ROUNDS"].flatMap(Int.init)

    /// The part of one of several tests.
    static func each(of tests: Int, unless few: Int) -> Int { wanted.map { ($0 + tests - 1) / tests } ?? few }
}

@Suite("Calls from inside callbacks", .inTurns(within: .seconds(1_800)))
struct ReentryTests {
    @Test(
        "every method may be called in every callback: it returns, nothing hangs, and nothing leaks",
        arguments: CallbackSite.allCases)
    func everywhere(_ place: CallbackSite) async throws {
        let first = CallbackSite.allCases.firstIndex(of: place) ?? 0
        for number in 0..<Rounds.each(of: CallbackSite.allCases.count, unless: 2) {
            let deed = CallbackAction.allCases[
                (first + 5 * number + number / 2) % CallbackAction.allCases.count]
            try await ReentryScenario(place, deed, isOfInviter: place.isOfInviter ?? (number % 2 == 0)).run()
        }
    }
}

/// Two devices meet and talk, and one of them does something at a place where it is called.
struct ReentryScenario {
    let place: CallbackSite
    let deed: CallbackAction
    let ann: TestApplication
    let bob: TestApplication
    let subject: TestApplication

    init(_ place: CallbackSite, _ deed: CallbackAction, isOfInviter: Bool) {
        self.place = place
        self.deed = deed
        let network = InMemoryDiscovery()
        ann = TestApplication("ann", on: network)
        bob = TestApplication("bob", on: network)
        (ann.partner, bob.partner) = (bob, ann)
        subject = isOfInviter ? ann : bob
    }

    func run() async throws {
        var remains = Remains()
        remains.add(ann)
        remains.add(bob)
        let done = Promise<Void>()
        let deed = deed
        subject.at(place) { handset in
            handset.perform(deed)
            done.send(())
        }
        await provoke()
        do {
            try await inTime { await done.value(onCancel: { done.send(()) }) }
        } catch {
            Issue.record(
                """
                \(deed) at \(place): it has not returned, or was not called. ann heard \(ann.states(of: bob.peer)), \
                bob \(bob.states(of: ann.peer))
                """)
        }
        for handset in [ann, bob] {
            remains.add(handset)
            handset.perform(.release)
        }
        do { try await atLast { remains.areGone } } catch { Issue.record("\(deed) at \(place): \(remains)") }
    }

    private func provoke() async {
        switch place {
        case .notConnected: other.at(.message) { $0.perform(.disconnect) }
        case .lost: bob.at(.connected) { $0.perform(.stop) }
        case .writerFailed:
            subject.keepWriters()
            other.at(.readerHasBytes) { $0.perform(.disconnect) }
        case .readerFailed:
            other.keepWriters()
            subject.at(.readerHasBytes) { [other] _ in other.perform(.disconnect) }
        default: break
        }
        if place.isOfAssistant { bob.assist() } else { bob.advertise(place != .notAdvertising) }
        if place.isOfChooser {
            await ann.choose(thenCancel: place == .cancelled)
        } else {
            ann.browse(place != .notBrowsing)
        }
    }

    private var other: TestApplication { subject === ann ? bob : ann }
}

/// Objects that should be gone when their last reference is released.
struct Remains: CustomStringConvertible {
    private struct Item {
        let name: String
        weak var object: AnyObject?
    }

    private var items: [Item] = []

    /// What the device holds now.
    mutating func add(_ handset: TestApplication) {
        let (held, name) = (handset.belongings, handset.peer.displayName)
        items.append(Item(name: "\(name)'s session", object: held.session))
        items.append(Item(name: "\(name)'s native session", object: held.session?.native.driver))
        items.append(Item(name: "\(name)'s advertiser", object: held.advertiser))
        items.append(Item(name: "\(name)'s browser", object: held.browser))
        items.append(Item(name: "\(name)'s assistant", object: held.assistant))
        items.append(Item(name: "\(name)'s browser controller", object: held.chooser))
        for stream in held.writers { items.append(Item(name: "a writer of \(name)'s", object: stream)) }
        for stream in held.readers { items.append(Item(name: "a reader of \(name)'s", object: stream)) }
    }

    var areGone: Bool { items.allSatisfy { $0.object == nil } }

    var description: String {
        "still there: " + items.filter { $0.object != nil }.map(\.name).joined(separator: ", ")
    }
}
