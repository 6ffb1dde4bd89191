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
        await read(60, of: meeting.ann)
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
            await meeting.bob.disconnect()
            try await within { while !(await meeting.ann.connectedPeers.isEmpty) { await Task.yield() } }
        }
        return most
    }

    private func read(_ count: Int, of session: Session) async {
        var events = session.events.makeAsyncIterator()
        for _ in 0..<count { _ = await events.next() }
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
