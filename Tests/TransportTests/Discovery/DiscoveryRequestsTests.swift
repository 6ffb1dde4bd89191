import MultipeerCore
import TestSupport
import Testing

@testable import MultipeerDiscovery
@testable import MultipeerTransport

@Suite("12 What callers ask of a discovery backend", .computing)
struct DiscoveryRequestsTests {
    private let advert: Advert
    private let announcement = AdvertID(1)
    private var requests = DiscoveryRequests()

    init() throws {
        advert = Advert(peer: try PeerID("ann"), type: try .random(), port: 4_000, info: .empty)
    }

    private static func name(_ outcome: DiscoveryRequests.Registration) -> String {
        switch outcome {
        case .registered: "registered"
        case .refused: "refused"
        case .cancelled: "cancelled"
        }
    }

    @Test("all advertisements of an announcement have its outcome, those that come later as well")
    mutating func shared() async {
        let first = requests.add(advert, to: announcement)
        #expect(requests.announcement(of: advert) == announcement)
        let second = requests.add(advert, to: announcement)
        #expect(!first.registration.isSent && !second.registration.isSent)
        requests.registrationEnded(of: announcement, .refused(MultipeerError(.discovery, "")))
        let third = requests.add(advert, to: announcement)
        for advertised in [first, second, third] {
            #expect(Self.name(await advertised.registration.value()) == "refused")
        }
        // Later it succeeds.
        requests.registrationEnded(of: announcement, .registered)
        let fourth = requests.add(advert, to: announcement)
        #expect(Self.name(await fourth.registration.value()) == "registered")
    }

    @Test("an announcement that was withdrawn leaves no outcome, also when it comes late")
    mutating func withdrawn() async {
        let first = requests.add(advert, to: announcement)
        let firstChange = requests.remove(first.id)
        #expect(firstChange == .withdraw(announcement))
        #expect(Self.name(await first.registration.value()) == "cancelled")
        requests.registrationEnded(of: announcement, .registered)
        #expect(requests.isEmpty && !requests.contains(first.id))
        let next = requests.add(advert, to: announcement)
        #expect(!next.registration.isSent)
        requests.registrationEnded(of: announcement, .registered)
        let nextChange = requests.remove(next.id)
        #expect(nextChange == .withdraw(announcement))
        let last = requests.add(advert, to: announcement)
        #expect(!last.registration.isSent)
    }

    @Test("a resolution has one result, and an ended browse receives nothing")
    mutating func found() async throws {
        let answer = requests.add(ResolveID(2))
        requests.resolved(ResolveID(2), Resolution())
        #expect(await answer.value() == Resolution())
        let feed = requests.add(BrowseID(3))
        #expect(!requests.isEmpty)
        let removed = [requests.remove(BrowseID(3)), requests.remove(BrowseID(3))]
        #expect(removed == [true, false])
        let (ann, bob) = (DiscoveredPeer(peer: advert.peer, info: [:]), try PeerID("bob"))
        requests.report(PresentPeer(ann, host: "ann.local"), ann.peer.uid, to: BrowseID(3))
        // The first event is the one that the feed gets now.
        let other = DiscoveredPeer(peer: bob, info: [:])
        feed.note(bob.uid, PresentPeer(other, host: "bob.local"))
        var events = DiscoveryEvents(feed) {}.makeAsyncIterator()
        #expect(await events.next() == .found(other))
        #expect(requests.isEmpty)
    }
}
