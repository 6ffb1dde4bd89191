import MultipeerActors
import MultipeerCore
import MultipeerFraming
import MultipeerMesh
import TestSupport
import Testing

/// A peer whose system restarts, or that links again, while calls of the previous one still run here.
@Suite("Calls of a peer with a new system", .computing)
struct ReturningPeerTests {
    enum Beginning: CaseIterable, Sendable {
        case hello, bye, link
    }

    /// Ann's system is another one from here on.
    private static func beginAnew(_ table: inout Table, _ beginning: Beginning, _ incarnation: UInt64) {
        switch beginning {
        case .hello: table.sayHello(incarnation: incarnation)
        case .bye:
            table.bob.receive(Envelope.bye(incarnation - 1).bytes.span, from: table.annsUID)
            table.sayHello(incarnation: incarnation)
        case .link:
            table.unlink()
            table.link()
        }
    }

    @Test(
        "calls of an earlier system count until they end, so starting a new one does not allow more at once",
        arguments: Beginning.allCases)
    func credit(_ beginning: Beginning) {
        var table = Table(bob: ActorLimits().with { $0.calls = 4 })
        for number in 1...8 { table.send(CallNumber(number)) }
        #expect(table.executing.count == 8)
        for round in 0..<5 {
            Self.beginAnew(&table, beginning, UInt64(2 + round))
            for number in 1...20 { table.send(CallNumber(100 * round + number)) }
        }
        #expect(table.executing.count == 8)
        #expect(table.bob.callsOfOthers == 8)
        // As many new calls as have ended can be made.
        for _ in 0..<3 { table.bob.finished(table.executing.removeFirst()) }
        for number in 901...920 { table.send(CallNumber(number)) }
        #expect(table.executing.count == 8)
        while !table.executing.isEmpty { table.bob.finished(table.executing.removeFirst()) }
        #expect(table.bob.callsOfOthers == 0)
    }

    @Test("the same holds for the bytes of calls", arguments: Beginning.allCases)
    func bytes(_ beginning: Beginning) {
        let limits = ActorLimits().with { ($0.callBytes, $0.envelope) = (65_536, 65_536) }
        var table = Table(bob: limits)
        for number in 1...4 { table.send(CallNumber(number), size: 40_000) }
        #expect(table.executing.count == 3)
        Self.beginAnew(&table, beginning, 2)
        for number in 11...14 { table.send(CallNumber(number), size: 40_000) }
        #expect(table.executing.count == 3)
    }

    @Test(
        "the end of an old call is not taken for that of a new one with its number",
        arguments: Beginning.allCases)
    func sameNumber(_ beginning: Beginning) throws {
        var table = Table()
        table.send(7)
        Self.beginAnew(&table, beginning, 2)
        table.send(7)
        #expect(table.executing.count == 2)
        let (old, new) = (try #require(table.executing.first), try #require(table.executing.last))
        #expect(old != new)
        table.bob.finished(old)
        table.bob.finished(old)
        #expect(table.bob.callsOfOthers == 1)
        let goesOn = table.bob.began(new, 71)
        #expect(goesOn)
        table.bob.receive(Envelope.cancel(7).bytes.span, from: table.annsUID)
        table.settle()
        #expect(table.stopped == [71])
        table.bob.finished(new)
        #expect(table.bob.callsOfOthers == 0)
    }

    @Test("the methods called by an earlier system are cancelled, including those that begin only then")
    func stopped() throws {
        var table = Table()
        table.send(1)
        table.send(2)
        _ = table.began(0, 71)
        table.sayHello(incarnation: 2)
        #expect(table.stopped == [71])
        let goesOn = table.began(1, 72)
        #expect(!goesOn)
    }

    @Test("the remaining calls of all peers that do not return are bounded together")
    func strangers() {
        var table = Table(bob: ActorLimits().with { $0.calls = 1 })
        var executing = 0
        for number in 10..<60 {
            let stranger = Table.peer(UInt64(number))
            _ = table.bob.linkMade(to: stranger)
            for number in 1...3 {
                let call = Envelope.Call(number: CallNumber(number), place: .name("till"), target: "$s")
                table.bob.receive(Envelope.call(call).bytes.span, from: stranger.uid)
            }
            table.bob.linkEnded(to: stranger.uid, DisconnectReason(code: .lost))
            table.settle()
            executing = max(executing, table.bob.callsOfOthers)
        }
        #expect(executing == 16)
        while !table.executing.isEmpty { table.bob.finished(table.executing.removeFirst()) }
        table.send(1)
        #expect(table.executing.count == 1)
    }

    @Test("an answer that waits for room counts with its call, and answers beyond a limit do not wait")
    func unreadAnswers() throws {
        let limits = ActorLimits().with { ($0.callBytes, $0.envelope) = (65_536, 65_536) }
        var table = Table(bob: limits)
        table.send(1)
        let first = try #require(table.executing.first)
        var waits = table.bob.answerMayWait(60_000, for: first)
        #expect(waits)
        table.send(2)
        #expect(table.executing.count == 2)
        let second = try #require(table.executing.last)
        waits = table.bob.answerMayWait(80_000, for: second)
        #expect(!waits)
        waits = table.bob.answerMayWait(65_000, for: second)
        #expect(waits)
        table.send(3, size: 10_000)
        #expect(table.executing.count == 2)
        table.bob.finished(second)
        table.executing.removeLast()
        table.send(4, size: 10_000)
        #expect(table.executing.count == 2)
    }

    @Test("a goodbye that arrives after the next system's hello changes nothing")
    func lateGoodbye() {
        var table = Table()
        table.replaceBob(incarnation: 9)
        table.call("one")
        let checkIn = Envelope.CheckIn(key: "tills", type: "T", place: .name("till"))
        _ = table.bob.checkIn(checkIn)
        table.settle()
        table.ann.receive(Envelope.bye(2).bytes.span, from: table.bobsUID)
        table.settle()
        #expect(table.told.isEmpty)
        #expect(table.visitors == ["+tills"])
        table.ann.receive(Envelope.bye(9).bytes.span, from: table.bobsUID)
        table.ann.receive(Envelope.bye(9).bytes.span, from: table.bobsUID)
        table.settle()
        #expect(table.told == ["one: noSystem"])
        #expect(table.visitors == ["+tills", "-tills"])
    }

    @Test("when many systems follow each other at once, check-ins are announced once")
    func breathless() {
        var table = Table()
        for number in 0..<100 {
            _ = table.bob.checkIn(Envelope.CheckIn(key: "\(number)", type: "T", place: .name("till")))
        }
        table.settle()
        func sayHello(_ incarnation: Int) {
            let hello = Envelope.Hello(
                incarnation: UInt64(incarnation), calls: 1_024, bytes: 1 << 24, longest: 1 << 20)
            table.bob.receive(Envelope.hello(hello).bytes.span, from: table.annsUID)
        }
        // With ann's own there are as many as may follow each other over one link.
        for incarnation in 100..<1_123 { sayHello(incarnation) }
        let actions = table.bob.takeActions()
        // HELLO and NESTING before them.
        #expect(actions.count == 102)
        #expect(table.bob.dropped == 0)
        sayHello(1_123)
        #expect(table.bob.dropped == 1)
        #expect(table.bob.longestAnswer(to: table.annsUID) == 1_024)
    }

    /// What ann would send now.
    private static func said(_ table: inout Table) throws -> [String] {
        try table.ann.takeActions().compactMap { action in
            guard case .send(let bytes, _, _) = action else { return nil }
            switch try Envelope(bytes.span) {
            case .hello: return "HELLO"
            case .call(let call): return "CALL \(call.arguments.count)"
            case .checkIn(let checkIn): return "CHECK_IN \(checkIn.key)"
            case .checkOut(let checkIn): return "CHECK_OUT \(checkIn.key)"
            case .nesting: return "NESTING"
            case .answer, .cancel, .bye: return "other"
            }
        }
    }

    @Test(
        "calls that waited for a system are sent after this side's hello, which limits the length of answers")
    func helloFirst() throws {
        var table = Table(linked: false)
        table.linkAnn()
        table.call("one")
        table.linkBob()
        #expect(try Self.said(&table) == ["HELLO", "NESTING", "CALL 1"])
        #expect(table.bob.longestAnswer(to: table.annsUID) == 1_024)
    }

    @Test("check-ins and check-outs that no system has seen cancel out; the rest are sent in order")
    func toldOnce() throws {
        var table = Table(linked: false)
        let (one, two) = (
            Envelope.CheckIn(key: "one", type: "T", place: .name("till")),
            Envelope.CheckIn(key: "two", type: "T", place: .name("till"))
        )
        table.linkAnn()
        _ = table.ann.checkIn(one)
        _ = table.ann.checkOut(one)
        _ = table.ann.checkIn(one)
        #expect(try Self.said(&table) == [])
        _ = table.ann.checkOut(one)
        #expect(try Self.said(&table) == [])
        _ = table.ann.checkIn(one)
        table.linkBob()
        #expect(try Self.said(&table) == ["HELLO", "NESTING", "CHECK_IN one"])
        // Where one alone has room, the other has to be out before.
        _ = table.ann.checkIn(two)
        _ = table.ann.checkOut(two)
        _ = table.ann.checkOut(one)
        _ = table.ann.checkIn(two)
        #expect(try Self.said(&table) == ["CHECK_OUT one", "CHECK_IN two"])
    }

    /// A CALL of ann's that is not carried across.
    private static func place(_ table: inout Table) throws -> (number: CallNumber, post: [UInt8]?) {
        let call = Envelope.call(Envelope.Call(place: .name("till"), target: "$s")).bytes
        return try table.ann.place(
            call, to: table.bobsUID, waiter: "", deadline: nil, now: Moment(nanoseconds: 0))
    }

    @Test("a call that waited for room is sent after earlier check-ins")
    func toldBeforeWaiting() throws {
        var table = Table(bob: ActorLimits().with { $0.calls = 1 })
        table.call("one")
        let first = try #require(table.executing.first)
        _ = table.ann.checkIn(Envelope.CheckIn(key: "tills", type: "T", place: .name("till")))
        #expect(try Self.place(&table).post == nil)
        // The answer is read before the checked-in actors are reported.
        table.ann.receive(Envelope.answer(first.number, .done).bytes.span, from: table.bobsUID)
        #expect(try Self.said(&table) == ["CHECK_IN tills", "CALL 0"])
    }

    @Test("a call made while a check-in is being sent follows it, even when another call has been sent")
    func toldMeanwhile() throws {
        var table = Table()
        _ = table.ann.checkIn(Envelope.CheckIn(key: "tills", type: "T", place: .name("till")))
        let placed = try Self.place(&table)
        table.ann.leave(try #require(placed.post), to: table.bobsUID, placed.number, "")
        #expect(try Self.said(&table) == ["CHECK_IN tills", "CALL 0"])
        #expect(table.ann.isTelling)
        table.ann.haveTold()
        #expect(!table.ann.isTelling)
    }

    @Test("an actor that was checked out before a peer's next system said hello is not found by it")
    func phantom() {
        var table = Table()
        let checkIn = Envelope.CheckIn(key: "tills", type: "T", place: .name("till"))
        // The system that receives this is gone when its goodbye is received here.
        _ = table.bob.checkIn(checkIn)
        table.settle()
        table.bob.receive(Envelope.bye(1).bytes.span, from: table.annsUID)
        table.settle()
        _ = table.bob.checkOut(checkIn)
        table.settle()
        #expect(table.visitors == ["+tills", "-tills"])
    }

    @Test("when a system of another version takes over, the check-ins and calls of the earlier one end")
    func otherVersion() {
        var table = Table()
        _ = table.bob.checkIn(Envelope.CheckIn(key: "tills", type: "T", place: .name("till")))
        table.settle()
        table.send(1)
        _ = table.began(0, 71)
        var hello = Envelope.hello(Envelope.Hello(incarnation: 5, calls: 1, bytes: 65_536, longest: 1_024))
            .bytes
        hello[5] = 2
        for _ in 0..<3 {
            table.ann.receive(hello.span, from: table.bobsUID)
            table.bob.receive(hello.span, from: table.annsUID)
        }
        table.settle()
        #expect(table.visitors == ["+tills", "-tills"])
        #expect(table.stopped == [71])
    }

    @Test("two systems never give their calls the same numbers")
    func numbers() throws {
        var numbers: Set<CallNumber> = []
        for incarnation in [UInt64(0x1234_5678_9ABC_DEF0), 0x1234_5679_9ABC_DEF0, .max] {
            var machine = Table.Machine(incarnation: incarnation)
            _ = machine.linkMade(to: Table.peer(2))
            for _ in 0..<100 {
                let call = Envelope.call(Envelope.Call(place: .name("till"), target: "$s")).bytes
                let placed = try machine.place(
                    call, to: Table.peer(2).uid, waiter: "", deadline: nil, now: Moment(nanoseconds: 0))
                numbers.insert(placed.number)
            }
        }
        #expect(numbers.count == 300)
    }
}
