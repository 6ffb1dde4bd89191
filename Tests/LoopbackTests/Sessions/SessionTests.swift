import Multipeer
import TestSupport
import Testing

@Suite("Sessions over loopback", .inTurns)
struct SessionTests {
    @Test(
        "two sessions that exchanged connection data communicate over TLS 1.3, and end with a goodbye [close.goodbye]"
    )
    func talk() async throws {
        let meeting = try Meeting()
        try await meeting.link()
        try await meeting.ann.send(Array("hello".utf8), to: meeting.bob.peer)
        #expect(await meeting.bob.events.firstMessage() == Array("hello".utf8))
        try await meeting.bob.send(Array("hello yourself".utf8), to: meeting.ann.peer)
        #expect(await meeting.ann.events.firstMessage() == Array("hello yourself".utf8))
        let facts = try #require(await meeting.ann.connectionInfo(for: meeting.bob.peer))
        #expect(facts.isEncrypted)
        #expect(facts.cipherSuite == "TLS_AES_128_GCM_SHA256")
        await meeting.ann.disconnect()
        let end = await meeting.bob.events.firstEnd()
        #expect(end?.code == .goodbye)
        await meeting.bob.disconnect()
    }
}
