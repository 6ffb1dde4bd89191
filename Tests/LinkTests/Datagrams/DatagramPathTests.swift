import MultipeerCore
import MultipeerFraming
import MultipeerLink
import TestSupport
import Testing

@Suite("10.4 Datagram paths", .computing)
struct DatagramPathTests {
    private static let start = PathSituation.start

    /// What each phase makes of each input: the phase that follows and the actions, or = for nothing at all.
    private static let table = """
        fresh, alone, shakingHands, probing, up, resting
        announce | = | = | shakingHands: begin | shakingHands: begin | shakingHands: down begin | shakingHands: begin
        offer | = | shakingHands: begin | shakingHands: begin | shakingHands: begin | shakingHands: down begin \
        | idle: draw
        offerOfNothing | = | = | idle: drop | idle: drop | idle: drop down | =
        offerOfZero | = | = | idle: drop | idle: drop | idle: drop down | =
        moved | = | = | = | = | = | =
        established | = | = | probing: ping | = | = | =
        failed | = | = | resting: drop withdraw | resting: drop withdraw | resting: drop down withdraw | =
        ping | = | = | = | probing: pong | up: pong | =
        pong | = | = | = | up: up | = | =
        strangePong | = | = | = | = | = | =
        message | = | = | = | = | = | =
        junk | = | = | = | = | = | =
        early | = | = | = | = | = | =
        due | = | = | shakingHands: retransmit | probing: ping | up: ping | idle: draw
        late | = | = | resting: drop withdraw | resting: drop withdraw | up: ping | idle: draw
        """

    @Test(
        "every phase reacts to every input as in the table [dgram.restart] [dgram.path]",
        arguments: [true, false], [true, false])
    func transitions(_ isProtected: Bool, _ isControlling: Bool) throws {
        let rows = Self.table.split(separator: "\n").dropFirst().map {
            $0.split(separator: "|").map(Self.trimmed)
        }
        #expect(rows.map { $0[0] } == PathInput.allCases.map(\.rawValue))
        for (input, row) in zip(PathInput.allCases, rows) {
            for (situation, cell) in zip(PathSituation.allCases, row.dropFirst()) {
                guard var path = situation.path(isControlling: isControlling, isProtected: isProtected) else {
                    continue
                }
                let before = path.summary()
                input.happen(to: &path)
                let expected = cell == "=" ? before : isProtected ? cell : Self.plain(cell)
                let found = path.summary()
                #expect(found == expected, "\(situation) \(input)")
            }
        }
    }

    private static func trimmed(_ cell: Substring) -> String {
        String(cell.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }

    /// A plain link has no handshake: it pings at once.
    private static func plain(_ cell: String) -> String {
        guard cell.hasPrefix("shakingHands:"), cell.hasSuffix("begin") else { return cell }
        return "probing:" + cell.dropFirst("shakingHands:".count) + " ping"
    }

    // MARK: Offers and keys

    @Test(
        "a new path draws a number, offers it with its port, and begins when both offers are known [dgram.offer]"
    )
    func offers() {
        var path = DatagramPath(isControlling: true, isProtected: true, port: 3_000)
        #expect(path.takeActions() == [.drawAssociation] && path.association == nil && path.header == nil)
        path.receive(PathSituation.remote, at: Self.start)
        #expect(path.takeActions().isEmpty)
        let offer = path.announce(0xA1, at: Self.start)
        #expect(offer == DatagramOffer(association: 0xA1, port: 3_000, flags: 0))
        #expect(path.association == 0xA1 && path.remotePort == 4_000)
        #expect(path.header == DatagramHeader(.records, association: 0xB1))
    }

    @Test(
        "both ends derive the key from the same context, the lower uid's number first [dgram.key] [dgram.role]"
    )
    func context() {
        var lower = DatagramPath(isControlling: true, isProtected: true, port: 1_001)
        var higher = DatagramPath(isControlling: false, isProtected: true, port: 1_002)
        let one = lower.announce(0x0102_0304_0506_0708, at: Self.start)
        let other = higher.announce(0x1112_1314_1516_1718, at: Self.start)
        (_, _) = (lower.takeActions(), higher.takeActions())
        lower.receive(other, at: Self.start)
        higher.receive(one, at: Self.start)
        let context: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18]
        #expect(lower.takeActions() == [.begin(keyContext: context)])
        #expect(higher.takeActions() == [.begin(keyContext: context)])
    }

    @Test(
        "only the kind of the link's mode is accepted, under the latest announced number [dgram.mode] [dgram.drop]"
    )
    func admission() throws {
        for isProtected in [true, false] {
            var path = try #require(PathSituation.up.path(isProtected: isProtected))
            for kind in DatagramHeader.Kind.allCases {
                let isOurs = (kind == .records) == isProtected
                #expect(path.admits(DatagramHeader(kind, association: 0xA1)) == isOurs)
                #expect(!path.admits(DatagramHeader(kind, association: 0xB1)))
                #expect(!path.admits(DatagramHeader(kind, association: 0)))
            }
            let kind: DatagramHeader.Kind = isProtected ? .records : .plain
            #expect(path.header == DatagramHeader(kind, association: 0xB1))
            _ = path.announce(0xA2, at: Self.start)
            #expect(!path.admits(DatagramHeader(kind, association: 0xA1)))
            #expect(path.admits(DatagramHeader(kind, association: 0xA2)))
            path.failed(at: Self.start)
            #expect(!path.admits(DatagramHeader(kind, association: 0xA2)) && path.header == nil)
        }
    }

    // MARK: Time

    @Test(
        "a flight is repeated after 100 ms, doubled up to 1.6 s, and a new flight starts over [dgram.retransmit]"
    )
    func retransmission() throws {
        var path = try #require(PathSituation.shakingHands.path())
        #expect(delays(&path, 6) == [100, 200, 400, 800, 1_600, 1_600])
        let now = try #require(path.deadline)
        path.handshakeMoved(flights: 1, at: now)
        #expect(path.deadline == now + .milliseconds(100))
        path.advance(to: now + .milliseconds(100))
        path.handshakeMoved(flights: 1, at: now + .milliseconds(150))
        #expect(path.deadline == now + .milliseconds(300))
    }

    /// Returns the path's next `count` delays.
    private func delays(_ path: inout DatagramPath, _ count: Int) -> [Int64] {
        var now = Self.start
        return (0..<count).map { _ in
            let next = path.deadline ?? now
            defer { now = next }
            path.advance(to: next)
            return (next - now).wholeNanoseconds / 1_000_000
        }
    }

    @Test(
        "after 10 s without a pong this end rests and says so, the controlling end for 1 s, the other for 2 s [dgram.path] [dgram.rest]"
    )
    func timeLimit() throws {
        for situation in [PathSituation.shakingHands, .probing] {
            for isControlling in [true, false] {
                var path = try #require(situation.path(isControlling: isControlling))
                var last = Self.start
                while let deadline = path.deadline, path.header != nil {
                    last = deadline
                    path.advance(to: deadline)
                }
                #expect(last == Self.start + .seconds(10))
                #expect(path.deadline == last + .seconds(isControlling ? 1 : 2))
                #expect(path.takeActions().suffix(2) == [.drop, .withdraw])
            }
        }
    }

    @Test("a handshake that moves, and its end, restart the 10 s [dgram.path]")
    func progress() throws {
        var path = try #require(PathSituation.shakingHands.path())
        var now = Self.start
        for flight in 1...2 {
            now = now + .seconds(9)
            path.handshakeMoved(flights: flight, at: now)
        }
        now = now + .seconds(9)
        path.established(at: now)
        now = now + .seconds(9)
        path.advance(to: now)
        _ = path.take(.pong, sequence: 0, token: 1, at: now)
        #expect(path.canCarry(1))
    }

    @Test("a path that is up is pinged every 5 s [dgram.path]")
    func pings() throws {
        var path = try #require(PathSituation.up.path())
        for round in 1...5 {
            let now = Self.start + .seconds(5 * round)
            #expect(path.deadline == now)
            path.advance(to: now)
            let ping = try #require(path.takeActions().compactMap(\.content).last)
            _ = path.take([3, 0, 0, 0, UInt8(round)] + ping[5...], at: now)
        }
    }

    @Test(
        "a ping that is not answered is repeated after 250 ms, then every 125 ms, and after 1.75 s both ends begin again [dgram.path] [dgram.silence]"
    )
    func silence() throws {
        var path = try #require(PathSituation.up.path())
        let asked = Self.start + .seconds(5)
        path.advance(to: asked)
        #expect(path.summary() == "up: ping")
        var now = asked
        for milliseconds in [250] + [Int](repeating: 125, count: 11) {
            now = now + .milliseconds(milliseconds)
            #expect(path.deadline == now)
            path.advance(to: now)
            #expect(path.summary() == "up: ping")
        }
        #expect(path.deadline == asked + .milliseconds(1_750))
        path.advance(to: asked + .milliseconds(1_750))
        #expect(path.summary() == "idle: drop down draw" && path.deadline == nil)
    }

    @Test(
        "a message is followed by a ping after 500 ms, and by silence of 1.75 s the path is down [dgram.silence]"
    )
    func messages() throws {
        var path = try #require(PathSituation.up.path())
        _ = path.content(of: [1])
        #expect(path.deadline == Self.start + .milliseconds(500))
        while let deadline = path.deadline, path.canCarry(1) { path.advance(to: deadline) }
        #expect(path.takeActions().suffix(3) == [.drop, .down, .drawAssociation])
    }

    @Test(
        "whatever comes shows that the peer lives, pong or not [dgram.silence]", arguments: [1, 2] as [UInt8])
    func life(_ kind: UInt8) throws {
        var path = try #require(PathSituation.up.path())
        var now = Self.start
        for number in UInt8(1)...100 {
            var content = ByteBuffer()
            path.encode([1].span, into: &content, at: now)
            now = now + .milliseconds(1_700)
            while let deadline = path.deadline, deadline <= now { path.advance(to: deadline) }
            _ = path.take([kind, 0, 0, 0, number] + (kind == 1 ? [] : [0, 0, 0, 0, 0, 0, 0, 9]), at: now)
        }
        #expect(path.canCarry(1))
        #expect(!path.takeActions().contains(.down))
        // What was received before is no life.
        var content = ByteBuffer()
        path.encode([1].span, into: &content, at: now)
        now = now + .milliseconds(1_700)
        _ = path.take([1, 0, 0, 0, 7], at: now)
        while let deadline = path.deadline, deadline <= now + .milliseconds(50) { path.advance(to: deadline) }
        #expect(!path.canCarry(1))
    }

    @Test("where the round trip is long, silence has to last for four of them [dgram.silence]")
    func farAway() throws {
        var path = try #require(PathSituation.probing.path())
        var now = Self.start + .seconds(3)
        _ = path.take(.pong, sequence: 0, token: 1, at: now)
        #expect(path.canCarry(1))
        var content = ByteBuffer()
        path.encode([1].span, into: &content, at: now)
        let sent = now
        while let deadline = path.deadline, path.canCarry(1) {
            now = deadline
            path.advance(to: now)
        }
        #expect(now - sent > .milliseconds(11_990) && now - sent < .milliseconds(12_010))
        // The ping of the attempt and four that measure; then a repetition before the answer can have come is of no use.
        #expect(path.takeActions().count { $0.word == "ping" } == 1 + 4 + 7)
    }

    @Test("a peer that was suspended answers the first pings late: that lengthens no limit [dgram.silence]")
    func suspendedPeer() throws {
        // Of the four pings that measure again, the first three are lost.
        var path = try #require(PathSituation.probing.path())
        var now = Self.start
        while let deadline = path.deadline, deadline <= Self.start + .seconds(5) {
            path.advance(to: deadline)
        }
        now = Self.start + .seconds(5)
        let tokens = path.takeActions().compactMap(\.pingToken)
        for (number, token) in tokens.enumerated() {
            _ = path.take(.pong, sequence: UInt32(number), token: token, at: now)
        }
        #expect(path.canCarry(1) && path.takeActions().compactMap(\.pingToken).count == 1)
        var last: UInt64?
        for number in 1...3 {
            // Neither what the peer sends nor its pings use up the four.
            _ = path.take(.ping, sequence: UInt32(60 + number), token: 1, at: now)
            #expect(path.takeActions().compactMap(\.pingToken).isEmpty)
            now = now + .milliseconds(250)
            #expect(path.deadline == now)
            path.advance(to: now)
            last = path.takeActions().compactMap(\.pingToken).last
        }
        let pinged = now
        now = now + .milliseconds(10)
        _ = path.take(.pong, sequence: 70, token: try #require(last), at: now)
        #expect(path.deadline == pinged + .seconds(5))
        var content = ByteBuffer()
        path.encode([1].span, into: &content, at: now)
        let sent = now
        while let deadline = path.deadline, path.canCarry(1) {
            now = deadline
            path.advance(to: now)
        }
        #expect(now - sent < .milliseconds(1_760))
    }

    @Test(
        "an attempt to which a content has come, and then none, ends after 1.75 s, or four times as long as that took [dgram.silence]"
    )
    func deafAttempt() throws {
        for (first, limit) in [(200, 1_750), (1_000, 4_000)] {
            var path = try #require(PathSituation.probing.path())
            let heard = Self.start + .milliseconds(first)
            while let deadline = path.deadline, deadline <= heard { path.advance(to: deadline) }
            // The peer is up from its pong on, and has no sign that it is not heard: this end's pings reach it.
            _ = path.take(.ping, sequence: 0, token: 9, at: heard)
            _ = path.takeActions()
            #expect(path.deadline == heard + .milliseconds(100))
            var now = heard
            while let deadline = path.deadline, path.header != nil {
                now = deadline
                path.advance(to: now)
            }
            #expect(now == heard + .milliseconds(limit))
            let actions = path.takeActions()
            #expect(actions.suffix(2) == [.drop, .drawAssociation] && !actions.contains(.down))
            #expect(actions.count { $0.word == "ping" } > 3)
        }
    }

    @Test("an end that was suspended pings before it decides [dgram.silence]")
    func suspended() throws {
        var path = try #require(PathSituation.up.path())
        _ = path.content(of: [1])
        let woken = Self.start + .seconds(60)
        path.advance(to: woken)
        #expect(path.canCarry(1) && path.summary() == "up: ping")
        #expect(path.deadline == woken + .milliseconds(250))
    }

    @Test(
        "a ping that is due within half of its interval joins another, or the answer to the peer's [dgram.path]"
    )
    func joining() throws {
        for (isAnswer, seconds, joins) in [
            (false, 2.4, false), (false, 2.5, true), (true, 2.4, false), (true, 2.5, true),
        ] {
            var path = try #require(PathSituation.up.path())
            let moment = Self.start.later(seconds)
            for isFirst in [true, false] {
                if isAnswer {
                    _ = path.take(.ping, sequence: isFirst ? 8 : 9, token: 1, at: moment)
                } else {
                    path.joinPing(at: moment)
                }
                let actions = (isAnswer ? ["pong"] : []) + (joins && isFirst ? ["ping"] : [])
                #expect(path.summary() == (["up:"] + actions).joined(separator: " "))
            }
            // The answer.
            _ = path.take(.pong, sequence: 10, token: 1, at: moment)
            #expect(path.deadline == (joins ? moment : Self.start) + .seconds(5))
        }
    }

    @Test("a ping that waits for its answer is not repeated earlier to join another [dgram.path]")
    func joiningUnanswered() throws {
        var path = try #require(PathSituation.up.path())
        path.advance(to: Self.start + .seconds(5))
        #expect(path.summary() == "up: ping")
        path.joinPing(at: Self.start + .milliseconds(5_100))
        #expect(path.summary() == "up:" && path.deadline == Self.start + .milliseconds(5_250))
    }

    @Test(
        "after a failure the path restarts in 1, 2, 4 … 30 s, and where one was up in at most 2 s [dgram.rest]"
    )
    func backoff() throws {
        var path = try #require(PathSituation.shakingHands.path())
        var now = Self.start
        for seconds: Int64 in [1, 2, 4, 8, 16, 30, 30, 30] {
            path.failed(at: now)
            #expect(path.deadline == now + .seconds(seconds))
            now = now + .seconds(seconds)
            path.advance(to: now)
            _ = path.announce(UInt64(seconds), at: now)
        }
        path.established(at: now)
        let ping = try #require(path.takeActions().compactMap(\.content).last)
        _ = path.take([3, 0, 0, 0, 0] + ping[5...], at: now)
        for seconds: Int64 in [1, 2, 2, 2] {
            path.failed(at: now)
            #expect(path.deadline == now + .seconds(seconds))
            now = now + .seconds(seconds)
            path.advance(to: now)
            _ = path.announce(UInt64(seconds), at: now)
        }
    }

    @Test(
        "the peer's new offer ends a rest: this end has withdrawn its own, and draws another [dgram.rest]")
    func awakened() throws {
        var path = try #require(PathSituation.resting.path())
        path.receive(DatagramOffer(association: 0xB2, port: 4_001), at: Self.start)
        #expect(path.summary() == "idle: draw")
        // A second one meanwhile is not taken with the number that is withdrawn.
        path.receive(DatagramOffer(association: 0xB3, port: 4_001), at: Self.start)
        #expect(path.summary() == "idle:" && path.header == nil)
        _ = path.announce(0xA2, at: Self.start)
        #expect(path.header == DatagramHeader(.records, association: 0xB3))
        #expect(path.deadline == Self.start + .milliseconds(100))
    }

    @Test("a pong for a ping of an earlier pair is ignored [dgram.path]")
    func stalePong() throws {
        var path = try #require(PathSituation.probing.path(isProtected: false))
        path.receive(DatagramOffer(association: 0xB2, port: 4_001), at: Self.start)
        _ = path.take(.pong, sequence: 0, token: 1, at: Self.start)
        #expect(!path.canCarry(1))
        _ = path.take(.pong, sequence: 1, token: 2, at: Self.start)
        #expect(path.canCarry(1))
    }
}

extension DatagramPath.Action {
    /// What a `send` sends.
    var content: [UInt8]? {
        guard case .send(let content) = self else { return nil }
        return content
    }
}
