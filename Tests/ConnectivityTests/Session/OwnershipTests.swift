import Foundation
@preconcurrency import MultipeerConnectivity
import MultipeerCore
import MultipeerTransport
import TestSupport
import Testing

@Suite("Released objects", .inTurns)
struct OwnershipTests {
    /// The state of two devices when all objects of one of them are released.
    enum Moment: String, CaseIterable {
        case unused, started, inviting, invited, asked, connected, talking, left
    }

    @Test(
        "sessions, advertisers, browsers and streams end with their last reference, and the peer notices",
        arguments: Moment.allCases)
    func moments(_ moment: Moment) async throws {
        let network = InMemoryDiscovery()
        let (ann, bob) = (TestApplication("ann", on: network), TestApplication("bob", on: network))
        (ann.partner, bob.partner) = (bob, ann)
        if moment != .talking { [ann, bob].forEach { $0.keepQuiet() } }
        try await reach(moment, ann, bob)
        var remains = Remains()
        remains.add(ann)
        ann.perform(.release)
        do { try await atLast { remains.areGone } } catch { Issue.record("\(remains)") }
        if bob.states(of: ann.peer).contains(.connected) {
            try await inTime { await bob.until { !$0.isConnected(to: ann.peer) } }
        }
        remains.add(bob)
        bob.perform(.release)
        do { try await atLast { remains.areGone } } catch { Issue.record("\(remains)") }
    }

    private func reach(_ moment: Moment, _ ann: TestApplication, _ bob: TestApplication) async throws {
        if moment == .unused { return }
        switch moment {
        case .invited: bob.keepInvitations()
        case .asked: bob.judge { _ in }
        default: break
        }
        bob.advertise()
        ann.browse()
        try await inTime { await ann.until { $0.known.contains(bob.peer) } }
        if moment == .started { return }
        if moment != .talking { ann.perform(.invite) }
        switch moment {
        case .unused, .started, .inviting: break
        case .invited: try await inTime { await bob.until { $0.known.contains(ann.peer) } }
        case .asked: try await inTime { await bob.until { !$0.shown.isEmpty } }
        case .connected: try await connected(ann, bob)
        case .talking:
            try await connected(ann, bob)
            try await inTime { await bob.until { $0.messages.count > 0 } }
            try await atLast { ann.belongings.readers.count > 0 && bob.belongings.readers.count > 0 }
        case .left:
            try await connected(ann, bob)
            ann.perform(.disconnect)
            try await inTime { await bob.until { !$0.isConnected(to: ann.peer) } }
        }
    }

    private func connected(_ ann: TestApplication, _ bob: TestApplication) async throws {
        for (one, other) in [(ann, bob), (bob, ann)] {
            try await inTime { await one.until { $0.isConnected(to: other.peer) } }
        }
    }

    @Test("a stream ends with its last reference, and an open one that is scheduled with its last remove")
    func streams() async throws {
        let network = InMemoryDiscovery()
        let (ann, bob) = (TestApplication("ann", on: network), TestApplication("bob", on: network))
        (ann.partner, bob.partner) = (bob, ann)
        [ann, bob].forEach { $0.keepQuiet() }
        ann.connect()
        try await connected(ann, bob)
        for isScheduled in [false, true] {
            for isOpen in [false, true] {
                weak var gone: OutputStream?
                let isKept = isScheduled && isOpen
                do {
                    let session = try #require(ann.session)
                    let stream = try session.startStream(withName: "notes", toPeer: bob.peer)
                    if isScheduled { stream.schedule(in: StreamThread.shared.runLoop, forMode: .default) }
                    if isOpen { stream.open() }
                    gone = stream
                }
                #expect(!isKept || gone != nil)
                if isKept { gone?.remove(from: StreamThread.shared.runLoop, forMode: .default) }
                try await atLast { gone == nil }
            }
        }
        [ann, bob].forEach { $0.perform(.release) }
    }
}
