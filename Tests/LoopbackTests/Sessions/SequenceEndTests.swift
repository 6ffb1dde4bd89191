import Multipeer
import MultipeerDiscovery
import MultipeerHandshake
import MultipeerMesh
import MultipeerTransport
import TestSupport
import Testing

@Suite("1 Ends and consumers of sequences", .inTurns)
struct SequenceEndTests {
    @Test(
        "a task group that iterates over everything returns after stop and disconnect",
        arguments: [true, false])
    func structured(_ isUsed: Bool) async throws {
        let network = try Ground.memory.network()
        let (ann, bob) = (try Caller("ann", network), try Caller("bob", network))
        try await within {
            // Created before, so that they exist when the tasks begin.
            let made = Promise<Void>()
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    var iterator = ann.browser.events.makeAsyncIterator()
                    made.send(())
                    while await iterator.next() != nil {}
                }
                await made.value()
                await ann.browser.stop()
            }
            let (listening, talking) = (Promise<Void>(), Promise<Void>())
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    var iterator = ann.advertiser.invitations.makeAsyncIterator()
                    listening.send(())
                    while await iterator.next() != nil {}
                }
                group.addTask {
                    var iterator = ann.session.events.makeAsyncIterator()
                    talking.send(())
                    while await iterator.next() != nil {}
                }
                await listening.value()
                await talking.value()
                if isUsed {
                    try await ann.advertiser.start()
                    let (mine, theirs) = (
                        try await ann.session.connectionData(), try await bob.session.connectionData()
                    )
                    async let first = ann.session.trying(theirs)
                    async let second = bob.session.trying(mine)
                    _ = (try await first.get(), try await second.get())
                }
                await ann.advertiser.stop()
                await ann.session.disconnect()
                try await group.waitForAll()
            }
        }
        await bob.stop()
    }

    @Test("events end with the last notConnected; when the session is used again, the next loop continues")
    func sessionAgain() async throws {
        let meeting = try Meeting()
        for _ in 0..<3 {
            let made = Promise<Void>()
            let states = Task { [ann = meeting.ann] in
                var (states, iterator) = ([PeerState](), ann.events.makeAsyncIterator())
                made.send(())
                while let event = await iterator.next() {
                    if case .peer(_, let state) = event { states.append(state) }
                }
                return states
            }
            await made.value()
            try await meeting.link()
            await meeting.end()
            let heard = try await within { await states.value }
            #expect(heard.count == 3 && heard.prefix(2) == [.connecting, .connected])
            #expect(heard.last?.isNotConnected == true)
        }
    }

    @Test("events that were not read before disconnect are there for the next loop, which continues")
    func untaken() async throws {
        let meeting = try Meeting()
        try await meeting.link()
        await meeting.end()
        try await meeting.link()
        var (connected, iterator) = (0, meeting.ann.events.makeAsyncIterator())
        while connected < 2 {
            if case .peer(_, .connected) = try #require(await iterator.next()) { connected += 1 }
        }
        await meeting.end()
    }

    @Test("after stop a browser's events report every peer lost and end, and begin again with the next start")
    func browserAgain() async throws {
        let network = try Ground.memory.network()
        let (ann, bob) = (try Caller("ann", network), try Caller("bob", network))
        try await bob.advertiser.start()
        for _ in 0..<2 {
            var early = ann.browser.events.makeAsyncIterator()
            try await ann.browser.start()
            #expect(await early.next()?.isFound(bob.peer) == true)
            var late = ann.browser.events.makeAsyncIterator()
            #expect(await late.next()?.isFound(bob.peer) == true)
            await ann.browser.stop()
            for var iterator in [early, late] {
                #expect(await iterator.next() == .lost(bob.peer))
                #expect(await iterator.next() == nil)
            }
        }
        await bob.stop()
    }

    @Test("a loop that begins after the end finishes at once", arguments: [true, false])
    func gone(_ isUsed: Bool) async throws {
        let (type, configuration) = try Ground.memory.network()
        let peer = try PeerID(displayName: "ann")
        let invitations: Advertiser.Invitations
        let (sightings, events): (Browser.Events, Session.Events)
        do {
            let advertiser = Advertiser(peer: peer, service: type, configuration: configuration)
            let browser = Browser(peer: peer, service: type, configuration: configuration)
            let session = try Session(peer: peer, configuration: .loopback())
            if isUsed {
                try await advertiser.start()
                try await browser.start()
                _ = try await session.connectionData()
            }
            (invitations, sightings, events) = (advertiser.invitations, browser.events, session.events)
        }
        try await within {
            for await _ in invitations {}
            for await _ in sightings {}
            for await _ in events {}
        }
    }

    @Test("two loops over events both get everything, and credit is returned after the slower one")
    func twoLoops() async throws {
        var narrow = Session.Configuration.loopback()
        narrow.overrides.messageCredit = 65_536
        let meeting = try Meeting(bob: narrow)
        let begun = [Promise<Void>(), Promise<Void>()]
        let loops = begun.map { begun in
            Task { [bob = meeting.bob] in
                var numbers: [UInt8] = []
                for await case .message(let message) in bob.events {
                    if message.count == 1 { begun.send(()) } else { numbers.append(message.bytes[0]) }
                }
                return numbers
            }
        }
        try await meeting.link()
        try await within {
            while begun.contains(where: { !$0.isSent }) {
                try await meeting.ann.send([0], to: meeting.bob.peer)
                await Task.yield()
            }
            for number in UInt8(0)..<200 {
                try await meeting.ann.send([UInt8](repeating: number, count: 16_384), to: meeting.bob.peer)
            }
            try await meeting.ann.waitUntilReceived(by: meeting.bob.peer)
            await meeting.end()
            for loop in loops { #expect(await loop.value == Array(0..<200)) }
        }
    }

    @Test("of two loops over an advertiser's invitations one gets each of them")
    func invitations() async throws {
        let callers = try await Caller.several(["ann", "bob", "carl"])
        let bob = callers[1]
        try await withThrowingTaskGroup(of: Void.self) { group in
            let counts = Tallies()
            for _ in 0..<2 {
                group.addTask {
                    for await invitation in bob.advertiser.invitations {
                        counts.note(invitation.inviter)
                        try await invitation.decline()
                    }
                }
            }
            for other in [callers[0], callers[2]] {
                let result = await other.inviting(bob)
                #expect(result.error?.code == .declined)
            }
            await bob.advertiser.stop()
            try await group.waitForAll()
            #expect(counts.all == [callers[0].peer: 1, callers[2].peer: 1])
        }
        await callers.stop()
    }

    @Test("of two tasks that read one stream, the second gets an error")
    func twoReaders() async throws {
        let meeting = try Meeting()
        try await meeting.link()
        let out = try await meeting.ann.openStream(to: meeting.bob.peer, name: "x")
        let stream = try await within { try await meeting.bob.events.firstStream() }
        try await withThrowingTaskGroup(of: Result<[UInt8]?, MultipeerError>.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    var iterator = stream.makeAsyncIterator()
                    do throws(MultipeerError) {
                        return .success(try await iterator.next())
                    } catch {
                        return .failure(error)
                    }
                }
            }
            let refused = try await group.next()
            #expect(refused == .failure(MultipeerError(.invalidArgument, "")))
            try await out.write([7])
            let read = try await group.next()
            #expect(read == .success([7]))
        }
        await meeting.end()
    }
}

extension PeerState {
    fileprivate var isNotConnected: Bool { if case .notConnected = self { true } else { false } }
}

/// How often each was noted.
private final class Tallies: Sendable {
    private let counts = Locked<[PeerID: Int]>([:])

    func note(_ peer: PeerID) { counts.withLock { $0[peer, default: 0] += 1 } }
    var all: [PeerID: Int] { counts.withLock { $0 } }
}
