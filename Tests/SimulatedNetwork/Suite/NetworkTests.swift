import Foundation
import Multipeer
import MultipeerSimulation
import MultipeerTransport
import Synchronization
import TestSupport
import Testing

@Suite("Behaviour of a simulated network", .computing)
struct NetworkTests {
    @Test(
        "a message sent during a short split arrives after it, and the link stays",
        arguments: [EncryptionPreference.required, .none])
    func shortSplit(_ preference: EncryptionPreference) async throws {
        let network = SimulatedNetwork(seed: 3)
        let (texts, arrival) = try await network.run { network in
            let pair = try await Pair(on: network, preference: preference)
            network.partition([pair.annsHost], [pair.bobsHost])
            try await pair.ann.send(Array("one".utf8), to: pair.bob.peer)
            try await network.clock.sleep(for: .seconds(5))
            network.heal()
            try await pair.ann.send(Array("two".utf8), to: pair.bob.peer)
            return (await pair.bob.messages(2), network.elapsed)
        }
        #expect(texts == ["one", "two"])
        #expect((.seconds(5)...(.seconds(6))).contains(arrival))
    }

    @Test("a process that dies is noticed at once, a machine that vanishes after the idle timeout")
    func deaths() async throws {
        for (isSilent, expected) in [(false, DisconnectReason.Code.lost), (true, .timedOut)] {
            let network = SimulatedNetwork(seed: 3)
            let (reason, ends) = try await network.run { network in
                let pair = try await Pair(on: network)
                let before = network.elapsed
                network.kill(pair.bobsHost, silently: isSilent)
                let reason = await pair.ann.nextEnd()
                // Dead peers receive nothing more: their events end.
                for await _ in pair.bob.events {}
                return (reason, network.elapsed - before)
            }
            #expect(reason?.code == expected)
            #expect((isSilent ? .seconds(7)...(.seconds(11)) : .zero...(.milliseconds(50))).contains(ends))
        }
    }

    @Test("a name whose machine was killed returns as the same peer on another machine")
    func back() async throws {
        try await SimulatedNetwork(seed: 3).run { network in
            let pair = try await Pair(on: network)
            network.kill(pair.bobsHost)
            _ = await pair.ann.nextEnd()
            let again = try await Pair(on: network)
            #expect(again.bobsHost != pair.bobsHost && again.bobsHost.peer == pair.bobsHost.peer)
            #expect(again.annsHost == pair.annsHost)
        }
    }

    @Test("unreliable messages are sent over UDP, and with half of them lost about half arrive")
    func loss() async throws {
        let (sent, received) = try await SimulatedNetwork(seed: 3).run { network in
            let pair = try await Pair(on: network)
            try await network.clock.sleep(for: .seconds(5))
            network.loss = 0.5
            // What is overtaken by too many others counts as lost.
            network.delay = .milliseconds(2) ... .milliseconds(2)
            for _ in 0..<200 { try await pair.ann.send([1], to: pair.bob.peer, delivery: .unreliable) }
            try await network.clock.sleep(for: .seconds(1))
            let facts = (
                await pair.ann.connectionInfo(for: pair.bob.peer),
                await pair.bob.connectionInfo(for: pair.ann.peer)
            )
            return (facts.0?.datagrams.sent ?? 0, facts.1?.datagrams.received ?? 0)
        }
        #expect(sent == 200)
        #expect((60...140).contains(received))
    }

    @Test("datagrams of a new link begin a millisecond after it, so that the application goes on first")
    func datagramsBegin() async throws {
        let openings = Openings()
        let linked = try await SimulatedNetwork(seed: 3).run { network in
            let pair = try await Pair(on: network) {
                $0.overrides.datagramPort = { port in
                    openings.moments.withLock { $0.append(network.elapsed) }
                    return port
                }
            }
            let linked = network.elapsed
            try await network.clock.sleep(for: .seconds(1))
            #expect(await pair.ann.connectedPeers == [pair.bob.peer])
            #expect(await pair.bob.connectedPeers == [pair.ann.peer])
            return linked
        }
        let moments = openings.moments.withLock(\.self)
        #expect(moments.count == 2)
        let last = try #require(moments.max())
        #expect((.milliseconds(1)...(.milliseconds(2))).contains(last - linked))
    }

    /// When sessions opened the ports of their datagrams.
    private final class Openings: Sendable {
        let moments = Mutex<[Duration]>([])
    }

    @Test("more than a socket buffer holds arrives, after the configured delay")
    func much() async throws {
        try await SimulatedNetwork(seed: 3).run { network in
            let pair = try await Pair(on: network)
            network.delay = .milliseconds(100) ... .milliseconds(100)
            let before = network.elapsed
            let text = String(repeating: "a", count: 2_000_000)
            try await pair.ann.send(Array(text.utf8), to: pair.bob.peer)
            #expect(await pair.bob.messages(1) == [text])
            #expect(network.elapsed - before >= .milliseconds(100))
        }
    }

    @Test("a file arrives whole")
    func file() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let original = folder.appending(path: "original")
        let bytes = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        try bytes.write(to: original)
        let arrived = try await SimulatedNetwork(seed: 3).run { network in
            let pair = try await Pair(on: network)
            let sending = try await pair.ann.send(file: original, to: pair.bob.peer)
            var found: URL?
            for await case .resource(let file) in pair.bob.events {
                found = try await file.receive(into: folder).url
                break
            }
            try await sending.waitUntilReceived()
            return found
        }
        #expect(try Data(contentsOf: #require(arrived)) == bytes)
    }

    @Test("an advertiser that stops is lost by browsers, and one that dies is lost later")
    func discovery() async throws {
        let history = try await SimulatedNetwork(seed: 3).run { network in
            let (ann, bob, cas) = (try network.host("ann"), try network.host("bob"), try network.host("cas"))
            let browser = try Browser(peer: ann.peer, service: "room", configuration: ann.discovery())
            let advertisers = try [bob, cas].map {
                try Advertiser(peer: $0.peer, service: "room", configuration: $0.discovery())
            }
            network.task {
                for await event in browser.events { network.note(event.title) }
            }
            try await browser.start()
            for advertiser in advertisers { try await advertiser.start() }
            try await network.clock.sleep(for: .seconds(10))
            await advertisers[0].stop()
            network.kill(cas, silently: true)
            try await network.clock.sleep(for: .seconds(300))
            await browser.stop()
            return network.history
        }
        let lines = history.filter { $0.contains("found") || $0.contains("lost") }
        #expect(lines.count == 4)
        #expect(Set(lines.prefix(2).map { $0.suffix(9) }) == ["found bob", "found cas"])
        #expect(lines[2].hasSuffix("lost bob") && lines[2].hasPrefix("11."))
        let late = try #require(lines[3].split(separator: ".").first.flatMap { Int($0) })
        #expect(lines[3].hasSuffix("lost cas") && (100...130).contains(late))
    }

    @Test("a machine with a copy of one's id is reported to the browser and to the advertiser [mdns.self]")
    func duplicate() async throws {
        try await SimulatedNetwork(seed: 3).run { network in
            let (ann, copy) = (try network.host("ann"), try network.host("copy"))
            let browser = try Browser(peer: ann.peer, service: "room", configuration: ann.discovery())
            #expect(await browser.waitUntilDuplicated() == nil)
            let advertisers = try [ann, copy].map {
                try Advertiser(peer: ann.peer, service: "room", configuration: $0.discovery())
            }
            try await browser.start()
            let waiting = network.task { await browser.waitUntilDuplicated() }
            for advertiser in advertisers { try await advertiser.start() }
            let address = try #require(await waiting.value)
            #expect(await advertisers[0].waitUntilDuplicated() == address)
            #expect(await advertisers[1].waitUntilDuplicated().map { $0 != address } == true)
            #expect(await browser.peers.isEmpty)
            for advertiser in advertisers { await advertiser.stop() }
            await browser.stop()
        }
    }

    @Test("the wait for a duplicate ends with the browser")
    func noDuplicate() async throws {
        try await SimulatedNetwork(seed: 3).run { network in
            let ann = try network.host("ann")
            let browser = try Browser(peer: ann.peer, service: "room", configuration: ann.discovery())
            let advertiser = try Advertiser(
                peer: ann.peer, service: "room", configuration: ann.discovery())
            try await browser.start()
            try await advertiser.start()
            let waiting = [
                network.task { await browser.waitUntilDuplicated() },
                network.task { await advertiser.waitUntilDuplicated() },
            ]
            try await network.clock.sleep(for: .seconds(10))
            await browser.stop()
            await advertiser.stop()
            for wait in waiting { #expect(try await wait.value == nil) }
        }
    }
}

extension DiscoveredPeer.Event {
    fileprivate var title: String {
        switch self {
        case .found(let peer): "found \(peer.peer.displayName)"
        case .lost(let peer): "lost \(peer.displayName)"
        default: "changed"
        }
    }
}
