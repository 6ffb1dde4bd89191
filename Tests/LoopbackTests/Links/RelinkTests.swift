import Multipeer
import MultipeerCore
import MultipeerLink
import MultipeerMesh
import MultipeerTransport
import TestSupport
import Testing

@Suite("15 A peer that reconnects repeatedly", .inTurns)
struct RelinkTests {
    @Test(
        "a session whose events are not read stops accepting a returning peer, until they are read [limit.relink]"
    )
    func nobodyReads() async throws {
        let meeting = try Meeting()
        let reader = attend(meeting.bob)
        // Connecting, connected, not connected: 64 of them are enough.
        let links = try await visits(30, meeting)
        #expect(links == 21 || links == 22)
        try await read(60, of: meeting.ann)
        #expect(try await meeting.attempt().ann.isLinked)
        reader.cancel()
        await meeting.end()
    }

    @Test(
        "with a subprotocol handler, which gets its own events, the session's events need not be read [limit.relink]"
    )
    func guest() async throws {
        let meeting = try Meeting()
        let (guest, reader) = (SilentGuest(), attend(meeting.bob))
        #expect(await meeting.ann.driver.admit(guest))
        #expect(try await visits(26, meeting) == 26)
        // What began and ended unread was not kept: there is the link of now, and what came over it.
        #expect(try await meeting.attempt().ann.isLinked)
        try await meeting.bob.send([7], to: meeting.ann.peer)
        #expect(try await read(3, of: meeting.ann) == ["connecting", "connected", "message"])
        // That reader has seen the link: of all that follows, its end remains, and the link of now.
        try await bobLeaves(meeting)
        #expect(try await visits(26, meeting) == 26)
        #expect(try await meeting.attempt().ann.isLinked)
        try await meeting.bob.send([8], to: meeting.ann.peer)
        let rest = try await read(4, of: meeting.ann)
        #expect(rest == ["notConnected", "connecting", "connected", "message"])
        withExtendedLifetime(guest) {}
        reader.cancel()
        await meeting.end()
    }

    private func attend(_ session: Session) -> Task<Void, Never> {
        Task { while !Task.isCancelled { for await _ in session.events {} } }
    }

    /// How often bob comes and goes before he is not let in any more.
    private func visits(_ most: Int, _ meeting: Meeting) async throws -> Int {
        for visit in 0..<most {
            let fared = try await meeting.attempt()
            guard fared.ann.isLinked, fared.bob.isLinked else { return visit }
            try await bobLeaves(meeting)
        }
        return most
    }

    private func bobLeaves(_ meeting: Meeting) async throws {
        await meeting.bob.disconnect()
        try await within { while !(await meeting.ann.connectedPeers.isEmpty) { await Task.yield() } }
    }

    /// Returns the kinds of the next events.
    @discardableResult
    private func read(_ count: Int, of session: Session) async throws -> [String] {
        try await within {
            var events = session.events.makeAsyncIterator()
            var kinds: [String] = []
            while kinds.count < count, let event = await events.next() { kinds.append(event.kind) }
            return kinds
        }
    }
}

extension Session.Event {
    fileprivate var kind: String {
        switch self {
        case .message: "message"
        case .stream: "stream"
        case .resource: "resource"
        case .peer(_, .notConnected): "notConnected"
        case .peer(_, .connecting): "connecting"
        case .peer(_, .connected): "connected"
        case .verificationRequested: "verificationRequested"
        case .verified: "verified"
        }
    }
}

/// Takes part, and nothing is for it.
private final class SilentGuest: SubprotocolHandler {
    let mark: UInt32 = 0xFFFF_FFFF
    func linkMade(to peer: PeerID) {}
    func linkEnded(to peer: PeerID, _ reason: DisconnectReason) {}
    func arrived(_ messages: [IncomingMessage], from peer: PeerID) {}
    func takes(_ event: Session.Event) -> Bool { false }
}
