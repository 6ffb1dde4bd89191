import MultipeerCore
import MultipeerEngine
import MultipeerFraming
import MultipeerHandshake
import MultipeerSecurity
import TestSupport
import Testing

@Suite("5.3 TLS messages after the handshake", .computing)
struct KeyUpdateTests {
    /// The frames that an invitee sends on a connection on which these messages come, each at a number of seconds.
    private func frames(
        _ message: SecureChannel.PostHandshakeMessage, atSeconds times: [Int64]
    ) throws -> [UInt8] {
        let peer = try PeerID(validating: UID(high: 1, low: 2), displayName: "ann")
        var engine = InvitationEngine(Invitee(peer, seed: 1))
        let start = Moment(nanoseconds: 0)
        let accepted = engine.accepted(from: [127, 0, 0, 1], at: start)
        let id = try #require(accepted)
        engine.secured(id, at: start)
        for seconds in times { engine.receive(message, on: id, at: start + .seconds(seconds)) }
        _ = engine.takeOutputs()
        var buffer = ByteBuffer()
        engine.fill(id, into: &buffer)
        return buffer.takeAll()
    }

    private func close(_ code: CloseCode) -> [UInt8] {
        var buffer = ByteBuffer()
        Frame.close(code, reason: "").encode(into: &buffer)
        return buffer.takeAll()
    }

    @Test("a connection that was accepted before others changes no deadline of theirs [close.linger]")
    func passedConnection() throws {
        let peer = try PeerID(validating: UID(high: 1, low: 2), displayName: "ann")
        var engine = InvitationEngine(Invitee(peer, seed: 1))
        let start = Moment(nanoseconds: 0)
        let now = start + .seconds(10)
        let accepted = engine.accepted(from: [127, 0, 0, 1], at: now)
        let id = try #require(accepted)
        engine.secured(id, at: now)
        _ = engine.accepted(from: [127, 0, 0, 2], at: start + .seconds(5))
        engine.machine.stop(sparing: [], at: now)
        _ = engine.takeOutputs()
        #expect(engine.deadline == now + .seconds(1))
    }

    @Test("32 key updates at once are permitted, and 33 are a flood [tls.messages]")
    func burst() throws {
        #expect(try frames(.keyUpdate, atSeconds: [Int64](repeating: 0, count: 32)).isEmpty)
        #expect(try frames(.keyUpdate, atSeconds: [Int64](repeating: 0, count: 33)) == close(.flood))
    }

    @Test("each second permits one more [tls.messages]")
    func refill() throws {
        let burst = [Int64](repeating: 0, count: 32)
        #expect(try frames(.keyUpdate, atSeconds: burst + [1, 2, 3]).isEmpty)
        #expect(try frames(.keyUpdate, atSeconds: burst + [1, 1]) == close(.flood))
    }

    @Test("the first session ticket ends the connection [tls.no-resumption]")
    func ticket() throws {
        #expect(try frames(.sessionTicket, atSeconds: [0]) == close(.protocolError))
    }
}
