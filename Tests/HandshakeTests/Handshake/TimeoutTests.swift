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

    @Test("without its next step an accepted connection ends 5 s after TCP, or after TLS [link.timeouts]")
    func hello() throws {
        for isSecured in [true, false] {
            var stage = try Stage()
            try stage.connect()
            let id = stage.machine.accepted(at: stage.now)
            _ = stage.wait(.milliseconds(500))
            if isSecured { stage.machine.secured(id, stage.channel, nonce: Stage.binding, at: stage.now) }
            let end = try #require(ending(of: id, in: stage.wait(.seconds(20))))
            #expect(end == (isSecured ? .seconds(5) : .milliseconds(4_500), .timeout))
        }
    }

    @Test("where TLS took long, HELLO may too, until 15 s after TCP [link.timeouts]")
    func far() throws {
        for (tls, hello) in [(1, 5), (2, 8), (3, 12), (4, 11)] {
            var stage = try Stage()
            try stage.connect()
            let id = stage.machine.accepted(at: stage.now)
            _ = stage.wait(.seconds(tls))
            stage.machine.secured(id, stage.channel, nonce: Stage.binding, at: stage.now)
            let end = try #require(ending(of: id, in: stage.wait(.seconds(20))))
            #expect(end == (.seconds(hello), .timeout))
        }
    }

    @Test("a dialled connection has 5 s for each step, and dialling goes on [link.timeouts]")
    func dialled() throws {
        for steps in 0...2 {
            var stage = try Stage(weAreLower: true)
            let dial = try #require(try stage.connect().dials.first)
            if steps > 0 {
                _ = stage.wait(.seconds(1))
                stage.machine.connected(dial.id, at: stage.now)
            }
            if steps > 1 {
                _ = stage.wait(.seconds(4))
                stage.machine.secured(dial.id, stage.channel, nonce: Stage.binding, at: stage.now)
            }
            let happened = stage.wait(.seconds(6))
            let end = try #require(ending(of: dial.id, in: happened))
            #expect(end == (.seconds(5), .timeout))
            // It goes on 2 s after the first dial already.
            #expect(happened.map(\.action).dials.count >= 1)
        }
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
