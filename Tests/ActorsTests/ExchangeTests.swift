import MultipeerActors
import MultipeerCore
import MultipeerFraming
import MultipeerMesh
import TestSupport
import Testing

@Suite("The exchange of calls", .computing)
struct ExchangeTests {
    /// Calls, and expects that fault.
    private func expect(
        _ table: inout Table, _ waiter: String, _ expected: CallFault?, size: Int = 10,
        at location: SourceLocation = #_sourceLocation
    ) {
        let fault = table.call(waiter, size: size)
        #expect(fault == expected, sourceLocation: location)
    }

    @Test("a call is executed at the peer, and its answer delivered once")
    func answered() {
        var table = Table()
        table.call("one")
        #expect(table.executing.count == 1)
        table.answer(.value(.binary, [5]))
        #expect(table.told == ["one: value [5]"])
        table.ann.receive(Envelope.answer(1, .done).bytes.span, from: table.bobsUID)
        table.settle()
        #expect(table.told.count == 1)
    }

    @Test("answers settle the calls with their numbers, in any order")
    func order() {
        var table = Table()
        for name in ["one", "two", "three"] { table.call(name) }
        table.executing.reverse()
        for _ in 0..<3 { table.answer() }
        #expect(table.told == ["three: done", "two: done", "one: done"])
    }

    @Test("only the called peer can answer a call")
    func strangersAnswer() {
        var table = Table()
        let mallory = Table.peer(3)
        _ = table.ann.linkMade(to: mallory)
        table.call("one")
        table.ann.receive(Envelope.answer(1, .done).bytes.span, from: mallory.uid)
        table.settle()
        #expect(table.told.isEmpty)
        table.answer()
        #expect(table.told == ["one: done"])
    }

    @Test("a call without a link fails")
    func notLinked() {
        var table = Table(linked: false)
        expect(&table, "one", .notLinked)
        #expect(table.told.isEmpty)
    }

    @Test("a call waits for the other system's hello, and fails after ten seconds")
    func noSystem() {
        var table = Table(linked: false)
        table.linkAnn()
        expect(&table, "one", nil)
        #expect(table.ann.deadline == Moment(nanoseconds: 10_000_000_000))
        table.wait(.seconds(9))
        #expect(table.told.isEmpty)
        table.wait(.seconds(1))
        #expect(table.told == ["one: noSystem"])
    }

    @Test("calls that waited are sent when the hello arrives")
    func lateHello() {
        var table = Table(linked: false)
        table.linkAnn()
        table.call("one")
        table.linkBob()
        table.settle()
        #expect(table.executing.count == 1)
        table.wait(.seconds(20))
        table.answer()
        #expect(table.told == ["one: done"])
    }

    @Test("a call that is overdue fails, and the peer receives CANCEL")
    func deadline() {
        var table = Table()
        table.call("one", within: .seconds(3))
        let goesOn = table.began(0, 77)
        #expect(goesOn)
        let (alarm, another) = (table.ann.earlierDeadline(), table.ann.earlierDeadline())
        #expect(alarm == Moment(nanoseconds: 3_000_000_000))
        #expect(another == nil)
        table.wait(.seconds(3))
        #expect(table.told == ["one: timedOut"])
        #expect(table.stopped == [77])
        table.answer()
        #expect(table.told.count == 1)
    }

    @Test("a cancelled call is not reported, and the peer receives CANCEL")
    func cancel() {
        var table = Table()
        table.call("one")
        _ = table.began(0, 77)
        let isFirst = table.ann.cancel(1, to: table.bobsUID)
        let isSecond = table.ann.cancel(1, to: table.bobsUID)
        #expect(isFirst && !isSecond)
        table.settle()
        #expect(table.stopped == [77])
        #expect(table.told.isEmpty)
    }

    @Test("a CANCEL that overtakes its call keeps it from being executed")
    func earlyCancel() {
        var table = Table()
        table.bob.receive(Envelope.cancel(1).bytes.span, from: table.annsUID)
        table.call("one")
        #expect(table.executing.isEmpty)
        table.call("two")
        #expect(table.executing.count == 1)
    }

    @Test("a call that was cancelled before it ran is cancelled when it begins")
    func cancelBeforeBeginning() {
        var table = Table()
        table.call("one")
        table.ann.cancel(1, to: table.bobsUID)
        table.settle()
        let goesOn = table.began(0, 77)
        #expect(!goesOn)
    }

    @Test("when a link ends, all calls over it fail with its reason, and their methods are cancelled")
    func linkEnded() {
        var table = Table(bob: ActorLimits().with { $0.calls = 2 })
        for name in ["one", "two", "three"] { table.call(name) }
        _ = table.began(0, 71)
        _ = table.began(1, 72)
        table.unlink()
        #expect(table.told == ["one: ended lost", "two: ended lost", "three: ended lost"])
        #expect(table.stopped.sorted() == [71, 72])
        table.link()
        table.call("four")
        table.executing = [table.executing.removeLast()]
        table.answer()
        #expect(table.told.last == "four: done")
    }

    @Test("no more calls are sent than the peer allows, and the others follow in order")
    func window() {
        var table = Table(bob: ActorLimits().with { $0.calls = 2 })
        for number in 1...5 { table.call("\(number)") }
        #expect(table.executing.count == 2)
        for number in 1...5 {
            #expect(table.executing.first?.number == CallNumber(number))
            table.answer()
            #expect(table.executing.count == min(2, 5 - number))
        }
        #expect(table.told == (1...5).map { "\($0): done" })
    }

    @Test("nor more bytes, but a single call is always sent")
    func bytes() {
        var table = Table(
            bob: ActorLimits().with {
                $0.callBytes = 65_536
                $0.envelope = 65_536
            })
        for number in 1...3 { table.call("\(number)", size: 40_000) }
        #expect(table.executing.count == 1)
        table.answer()
        #expect(table.executing.count == 1)
        expect(&table, "large", .tooLarge(65_571, limit: 65_536), size: 65_536)
    }

    @Test("a waiting call that is cancelled gives up its place")
    func cancelQueued() {
        var table = Table(bob: ActorLimits().with { $0.calls = 1 })
        for number in 1...3 { table.call("\(number)") }
        table.ann.cancel(2, to: table.bobsUID)
        table.answer()
        #expect(table.executing.map(\.number) == [3])
        table.answer()
        #expect(table.told == ["1: done", "3: done"])
    }

    @Test(
        "a large waiting call that is cancelled lets the small ones after it go", arguments: [true, false])
    func givesWay(_ isCancelled: Bool) {
        var table = Table(
            bob: ActorLimits().with {
                $0.callBytes = 65_536
                $0.envelope = 65_536
            })
        table.call("1", size: 40_000)
        table.call("2", size: 40_000, within: .seconds(1))
        table.call("3")
        #expect(table.executing.map(\.number) == [1])
        if isCancelled {
            table.ann.cancel(2, to: table.bobsUID)
            table.settle()
        } else {
            table.wait(.seconds(1))
        }
        #expect(table.executing.map(\.number) == [1, 3])
    }

    @Test("a CANCEL that overtakes its call, after a later one, keeps it from being executed")
    func lateEarlyCancel() {
        var table = Table()
        table.send(2)
        table.bob.receive(Envelope.cancel(1).bytes.span, from: table.annsUID)
        table.send(1)
        #expect(table.executing.map(\.number) == [2])
    }

    @Test("of CANCELs for calls that never come, the last 64 are remembered")
    func earlyCancels() {
        var table = Table()
        for number in 1...1_000 as ClosedRange<CallNumber> {
            table.bob.receive(Envelope.cancel(number).bytes.span, from: table.annsUID)
        }
        for number in 930...940 as ClosedRange<CallNumber> { table.send(number) }
        #expect(table.executing.map(\.number) == Array(930...936))
    }

    @Test("the number of waiting calls is bounded")
    func pending() {
        var table = Table()
        table.ann = Table.Machine(
            incarnation: 1,
            limits: ActorLimits().with {
                $0.pending = 3
                $0.pendingBytes = 65_536
            })
        table.link()
        for number in 1...3 { expect(&table, "\(number)", nil) }
        expect(&table, "4", .busy)
        table.answer()
        expect(&table, "5", nil)
    }

    @Test("calls beyond a peer's limit are refused, and no other peer is affected")
    func flood() {
        var table = Table(bob: ActorLimits().with { $0.calls = 4 })
        for number in 1...100 {
            let call = Envelope.Call(number: CallNumber(number), place: .name("till"), target: "$s")
            table.bob.receive(Envelope.call(call).bytes.span, from: table.annsUID)
        }
        let answers = table.bob.takeActions().filter { if case .send = $0 { true } else { false } }
        #expect(answers.count == 92)
    }

    @Test("a call number that is in use is not executed again")
    func twice() {
        var table = Table()
        let call = Envelope.call(Envelope.Call(number: 1, place: .name("till"), target: "$s")).bytes
        for _ in 0..<3 { table.bob.receive(call.span, from: table.annsUID) }
        table.settle()
        #expect(table.executing.count == 1)
        #expect(table.bob.dropped == 2)
    }

    @Test("when a peer's system is replaced, calls to the earlier one fail")
    func replaced() {
        var table = Table()
        table.call("one")
        table.replaceBob(incarnation: 9)
        #expect(table.told == ["one: replaced"])
        table.executing = []
        table.call("two")
        #expect(table.executing.count == 1)
    }

    @Test("a goodbye ends the calls of its system, and later calls wait for the next hello")
    func bye() {
        var table = Table()
        table.call("one")
        table.ann.receive(Envelope.bye(2).bytes.span, from: table.bobsUID)
        table.settle()
        #expect(table.told == ["one: noSystem"])
        table.executing = []
        table.call("two")
        #expect(table.executing.isEmpty)
        table.replaceBob(incarnation: 3)
        #expect(table.executing.count == 1)
    }

    @Test("a system of another version is never called")
    func otherVersion() {
        var table = Table(linked: false)
        table.linkAnn()
        table.call("one")
        var hello = Envelope.hello(Envelope.Hello(incarnation: 5, calls: 1, bytes: 65_536, longest: 1_024))
            .bytes
        hello[5] = 2
        table.ann.receive(hello.span, from: table.bobsUID)
        table.settle()
        #expect(table.told == ["one: incompatible"])
        expect(&table, "two", .incompatible)
    }

    @Test("an answer that cannot be decoded fails its call, and a call that cannot be decoded is answered")
    func unreadable() {
        var table = Table()
        table.call("one")
        var answer = Envelope.answer(1, .value(.binary, [1])).bytes
        answer[13] = 200
        table.ann.receive(answer.span, from: table.bobsUID)
        table.settle()
        #expect(table.told == ["one: unreadable"])
        let call = Envelope.call(Envelope.Call(number: 7, place: .name("till"), target: "$s")).bytes
        let cut = Array(call.dropLast())
        table.bob.receive(cut.span, from: table.annsUID)
        let answers = table.bob.takeActions()
        #expect(answers.count == 1)
    }

    @Test("checked-in actors are announced to every new peer, and removed with the link")
    func checkIns() {
        var table = Table(linked: false)
        let checkIn = Envelope.CheckIn(key: "tills", type: "T", place: .name("till"))
        let (isNew, isNewAgain) = (table.bob.checkIn(checkIn), table.bob.checkIn(checkIn))
        #expect(isNew && !isNewAgain)
        table.link()
        #expect(table.visitors == ["+tills"])
        _ = table.bob.checkOut(.name("till"))
        table.settle()
        #expect(table.visitors == ["+tills", "-tills"])
        _ = table.bob.checkIn(checkIn)
        table.settle()
        table.ann.linkEnded(to: table.bobsUID, DisconnectReason(code: .lost))
        table.settle()
        #expect(table.visitors == ["+tills", "-tills", "+tills", "-tills"])
    }

    @Test("a peer cannot check in more actors than its limit")
    func tooManyCheckIns() {
        var table = Table(bob: ActorLimits().with { $0.checkIns = 3 })
        for number in 0..<10 {
            let checkIn = Envelope.CheckIn(key: "\(number)", type: "T", place: .name("till"))
            table.bob.receive(Envelope.checkIn(checkIn).bytes.span, from: table.annsUID)
        }
        table.settle()
        #expect(table.visitors.count == 3)
    }

    @Test("arbitrary bytes are tolerated, and every call is settled once", arguments: 0..<20)
    func chaos(_ seed: Int) {
        var random = Seeded(UInt64(seed))
        var table = Table(bob: ActorLimits().with { ($0.calls, $0.nestedCalls) = (5, 1) })
        var placed = 0
        for _ in 0..<Sanitizer.fewer(2_000) {
            switch Int.random(in: 0..<8, using: &random) {
            case 0...2:
                let depth = UInt8([0, 0, 1, 9][Int.random(in: 0..<4, using: &random)])
                if table.call("\(placed)", depth: depth, within: .seconds(1)) == nil { placed += 1 }
            case 3...4: if !table.executing.isEmpty { table.answer() }
            case 5: table.wait(.milliseconds(200))
            case 6:
                var bytes = Envelope.answer(CallNumber.random(in: 0...50, using: &random), .done).bytes
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(
                    in: 0...255, using: &random)
                table.ann.receive(bytes.span, from: table.bobsUID)
                table.bob.receive(bytes.span, from: table.annsUID)
                table.settle()
            default:
                if Int.random(in: 0..<20, using: &random) == 0 {
                    table.unlink()
                    table.executing = []
                    table.link()
                }
            }
        }
        table.ann.linkEnded(to: table.bobsUID, DisconnectReason(code: .lost))
        table.settle()
        #expect(table.told.count == placed)
        #expect(Set(table.told.map { $0.prefix { $0 != ":" } }).count == placed)
    }
}
