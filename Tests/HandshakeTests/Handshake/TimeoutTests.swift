import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerSecurity
import TestSupport
import Testing

@Suite("6.1 Timers of a connection", .computing)
struct TimeoutTests {
    /// When this connection was closed, and with what.
    private func ending(
        of id: ConnectionID, in happened: [(after: Duration, action: LinkEstablishment.Action)]
    ) -> (after: Duration, code: CloseCode)? {
        for (after, action) in happened {
            if case .close(id, let code) = action { return (after, code) }
        }
        return nil
    }

    @Test(
        "without a HELLO a connection ends 5 s after TCP, secured or not [link.timeouts]",
        arguments: [true, false])
    func hello(_ isSecured: Bool) throws {
        var stage = try Stage()
        try stage.connect()
        let id = stage.machine.accepted(at: stage.now)
        _ = stage.wait(.seconds(3))
        if isSecured { stage.machine.secured(id, stage.channel, nonce: Stage.binding, at: stage.now) }
        let end = try #require(ending(of: id, in: stage.wait(.seconds(10))))
        #expect(end == (.seconds(2), .timeout))
    }

    @Test(
        "a dialled connection has 5 s for the HELLO too, and dialling goes on [link.timeouts]",
        arguments: [true, false])
    func dialled(_ isSecured: Bool) throws {
        var stage = try Stage(weAreLower: true)
        let dial = try #require(try stage.connect().dials.first)
        if isSecured { stage.machine.secured(dial.id, stage.channel, nonce: Stage.binding, at: stage.now) }
        let happened = stage.wait(.seconds(6))
        let end = try #require(ending(of: dial.id, in: happened))
        #expect(end == (.seconds(5), .timeout))
        // 2, 4 and 6 s after the first.
        #expect(happened.map(\.action).dials.count == 3)
    }

    @Test("without CONFIRM a connection ends 30 s after HELLO [link.timeouts]")
    func confirm() throws {
        var stage = try Stage()
        try stage.connect(within: .seconds(100))
        let id = try stage.greet().id
        let end = try #require(ending(of: id, in: stage.wait(.seconds(60))))
        #expect(end == (.seconds(30), .timeout))
    }

    @Test(
        "without SELECT or SELECTED a candidate ends 5 s after CONFIRM [link.timeouts]",
        arguments: [true, false])
    func select(_ weAreLower: Bool) throws {
        var stage = try Stage(weAreLower: weAreLower)
        try stage.connect()
        let id = try stage.candidate().id
        let end = try #require(ending(of: id, in: stage.wait(.seconds(60))))
        #expect(end == (.seconds(5), .timeout))
    }

    @Test("a link has no timer of the handshake [link.timeouts]")
    func link() throws {
        var stage = try Stage()
        try stage.connect()
        try stage.link()
        #expect(stage.machine.deadline == nil)
    }
}
