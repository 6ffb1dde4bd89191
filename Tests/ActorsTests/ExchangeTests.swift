import MultipeerActors
import MultipeerFraming
import MultipeerIntroduction
import MultipeerMesh
import TestSupport
import Testing

/// Two exchanges and what goes between them, as fast as it is taken from one to the other.
private struct Table {
    typealias Machine = Exchange<String, Int>

    var ann = Machine(incarnation: 1)
    var bob: Machine
    let annsUID = UID(high: 0, low: 1)
    let bobsUID = UID(high: 0, low: 2)
    var now = Moment(nanoseconds: 0)
    /// What was told to whom who waits, in order.
    var told: [String] = []
    /// Calls that bob executes.
    var executing: [Envelope.Call] = []
    var stopped: [Int] = []
    var visitors: [String] = []
    /// What bob says while this is set does not arrive.
    var isBobSilent = false

    init(bob limits: ActorLimits = ActorLimits(), linked: Bool = true) {
        bob = Machine(incarnation: 2, limits: limits)
        if linked { link() }
    }

    mutating func link() {
        ann.linkMade(to: bobsUID)
        bob.linkMade(to: annsUID)
        settle()
    }

    /// Carries everything across until nothing is left to say.
    mutating func settle() {
        while true {
            let (anns, bobs) = (ann.takeActions(), bob.takeActions())
            if anns.isEmpty, bobs.isEmpty { return }
            for action in anns { carryOut(action, isAnns: true) }
            for action in bobs { carryOut(action, isAnns: false) }
        }
    }

    private mutating func carryOut(_ action: Machine.Action, isAnns: Bool) {
        switch action {
        case .send(let bytes, _, _):
            if isAnns {
                bob.receive(bytes.span, from: annsUID)
            } else if !isBobSilent {
                ann.receive(bytes.span, from: bobsUID)
            }
        case .settle(let waiter, let outcome): told.append("\(waiter): \(Table.short(outcome))")
        case .execute(let call, _, _): executing.append(call)
        case .stop(let work): stopped.append(work)
        case .arrived(let checkIn, _): visitors.append("+\(checkIn.key)")
        case .left(let checkIn, _): visitors.append("-\(checkIn.key)")
        }
    }

    private static func short(_ outcome: CallOutcome) -> String {
        switch outcome {
        case .answered(.done): "done"
        case .answered(.value(_, let bytes)): "value \(bytes)"
        case .answered(.error(let type, _, _)): "error \(type)"
        case .answered(.failure(let failure, _, _)): "\(failure)"
        case .failed(.ended(let reason)): reason.code == .lost ? "ended lost" : "ended \(reason)"
        case .failed(let fault): "\(fault)"
        }
    }

    /// Ann calls; answers the fault if she may not.
    @discardableResult
    mutating func call(_ waiter: String, size: Int = 10, within timeout: Duration? = nil) -> CallFault? {
        let call = Envelope.Call(
            place: .name("till"), target: "$s", arguments: [[UInt8](repeating: 0, count: size)])
        do throws(CallFault) {
            let placed = try ann.place(
                Envelope.call(call).bytes, to: bobsUID, waiter: waiter, deadline: timeout.map { now + $0 },
                now: now)
            if let bytes = placed.post { bob.receive(bytes.span, from: annsUID) }
        } catch {
            return error
        }
        settle()
        return nil
    }

    /// Bob answers the oldest call that he executes.
    mutating func answer(_ answer: Envelope.Answer = .done) {
        let call = executing.removeFirst()
        if !isBobSilent { ann.receive(Envelope.answer(call.number, answer).bytes.span, from: bobsUID) }
        bob.finished(call.number, of: annsUID)
        settle()
    }

    mutating func wait(_ duration: Duration) {
        now = now + duration
        ann.advance(to: now)
        bob.advance(to: now)
        settle()
    }
}

@Suite("The exchange of calls")
struct ExchangeTests {
    /// Calls, and expects that fault.
    private func expect(
        _ table: inout Table, _ waiter: String, _ expected: CallFault?, size: Int = 10,
        at location: SourceLocation = #_sourceLocation
    ) {
        let fault = table.call(waiter, size: size)
        #expect(fault == expected, sourceLocation: location)
    }

    @Test("a call is executed at the other side, and its answer told once")
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

    @Test("answers settle the calls with their numbers, in whatever order they come")
    func order() {
        var table = Table()
        for name in ["one", "two", "three"] { table.call(name) }
        table.executing.reverse()
        for _ in 0..<3 { table.answer() }
        #expect(table.told == ["three: done", "two: done", "one: done"])
    }

    @Test("nobody answers the call of another peer")
    func strangersAnswer() {
        var table = Table()
        let mallory = UID(high: 0, low: 3)
        table.ann.linkMade(to: mallory)
        _ = table.ann.takeActions()
        table.call("one")
        table.ann.receive(Envelope.answer(1, .done).bytes.span, from: mallory)
        table.settle()
        #expect(table.told.isEmpty)
        table.answer()
        #expect(table.told == ["one: done"])
    }

    @Test("without a link there is no call")
    func notLinked() {
        var table = Table(linked: false)
        expect(&table, "one", .notLinked)
        #expect(table.told.isEmpty)
    }

    @Test("a call waits for the other system's hello, and gives up after ten seconds")
    func noSystem() {
        var table = Table(linked: false)
        table.ann.linkMade(to: table.bobsUID)
        _ = table.ann.takeActions()
        expect(&table, "one", nil)
        #expect(table.ann.deadline == Moment(nanoseconds: 10_000_000_000))
        table.wait(.seconds(9))
        #expect(table.told.isEmpty)
        table.wait(.seconds(1))
        #expect(table.told == ["one: noSystem"])
    }

    @Test("once the hello is there, what waited goes")
    func lateHello() {
        var table = Table(linked: false)
        table.ann.linkMade(to: table.bobsUID)
        _ = table.ann.takeActions()
        table.call("one")
        table.bob.linkMade(to: table.annsUID)
        table.settle()
        #expect(table.executing.count == 1)
        table.wait(.seconds(20))
        table.answer()
        #expect(table.told == ["one: done"])
    }

    @Test("a call that is overdue is settled, and the other side told to stop")
    func deadline() {
        var table = Table()
        table.call("one", within: .seconds(3))
        let goesOn = table.bob.began(1, of: table.annsUID, 77)
        #expect(goesOn)
        let (alarm, another) = (table.ann.newAlarm(), table.ann.newAlarm())
        #expect(alarm == Moment(nanoseconds: 3_000_000_000))
        #expect(another == nil)
        table.wait(.seconds(3))
        #expect(table.told == ["one: timedOut"])
        #expect(table.stopped == [77])
        table.answer()
        #expect(table.told.count == 1)
    }

    @Test("a call that was cancelled is not told of, and the other side is told to stop")
    func cancel() {
        var table = Table()
        table.call("one")
        _ = table.bob.began(1, of: table.annsUID, 77)
        let isFirst = table.ann.cancel(1)
        let isSecond = table.ann.cancel(1)
        #expect(isFirst && !isSecond)
        table.settle()
        #expect(table.stopped == [77])
        #expect(table.told.isEmpty)
    }

    @Test("a CANCEL that overtakes its call keeps this from being executed")
    func earlyCancel() {
        var table = Table()
        table.bob.receive(Envelope.cancel(1).bytes.span, from: table.annsUID)
        table.call("one")
        #expect(table.executing.isEmpty)
        table.call("two")
        #expect(table.executing.count == 1)
    }

    @Test("a call that was told to stop before it ran hears so when it begins")
    func cancelBeforeBeginning() {
        var table = Table()
        table.call("one")
        table.ann.cancel(1)
        table.settle()
        let goesOn = table.bob.began(1, of: table.annsUID, 77)
        #expect(!goesOn)
    }

    @Test("when a link ends all calls over it fail with its reason, and what they had begun is stopped")
    func linkEnded() {
        var table = Table(bob: ActorLimits().with { $0.calls = 2 })
        for name in ["one", "two", "three"] { table.call(name) }
        _ = table.bob.began(1, of: table.annsUID, 71)
        _ = table.bob.began(2, of: table.annsUID, 72)
        table.ann.linkEnded(to: table.bobsUID, EndReason(code: .lost))
        table.bob.linkEnded(to: table.annsUID, EndReason(code: .lost))
        table.settle()
        #expect(table.told == ["one: ended lost", "two: ended lost", "three: ended lost"])
        #expect(table.stopped.sorted() == [71, 72])
        table.link()
        table.call("four")
        table.executing = [table.executing.removeLast()]
        table.answer()
        #expect(table.told.last == "four: done")
    }

    @Test("no more calls are sent than the other side takes, and the others follow in their order")
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

    @Test("nor more bytes, but one call alone always goes")
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

    @Test("a call that waits and is cancelled gives up its place")
    func cancelQueued() {
        var table = Table(bob: ActorLimits().with { $0.calls = 1 })
        for number in 1...3 { table.call("\(number)") }
        table.ann.cancel(2)
        table.answer()
        #expect(table.executing.map(\.number) == [3])
        table.answer()
        #expect(table.told == ["1: done", "3: done"])
    }

    @Test("calls that wait are bounded")
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

    @Test("a peer that calls more than it was told may is refused, and harms nobody")
    func flood() {
        var table = Table(bob: ActorLimits().with { $0.calls = 4 })
        for number in 1...100 {
            let call = Envelope.Call(number: CallNumber(number), place: .name("till"), target: "$s")
            table.bob.receive(Envelope.call(call).bytes.span, from: table.annsUID)
        }
        let answers = table.bob.takeActions().filter { if case .send = $0 { true } else { false } }
        #expect(answers.count == 92)
    }

    @Test("the same number is not executed twice at a time")
    func twice() {
        var table = Table()
        let call = Envelope.call(Envelope.Call(number: 1, place: .name("till"), target: "$s")).bytes
        for _ in 0..<3 { table.bob.receive(call.span, from: table.annsUID) }
        table.settle()
        #expect(table.executing.count == 1)
        #expect(table.bob.dropped == 2)
    }

    @Test("another system of the same peer does not answer for the one before")
    func replaced() {
        var table = Table()
        table.call("one")
        table.bob = Table.Machine(incarnation: 9)
        table.bob.linkMade(to: table.annsUID)
        table.settle()
        #expect(table.told == ["one: replaced"])
        table.executing = []
        table.call("two")
        #expect(table.executing.count == 1)
    }

    @Test("a system that says goodbye answers nothing, until another says hello")
    func bye() {
        var table = Table()
        table.call("one")
        table.ann.receive(Envelope.bye.bytes.span, from: table.bobsUID)
        table.settle()
        #expect(table.told == ["one: noSystem"])
        table.executing = []
        table.call("two")
        #expect(table.executing.isEmpty)
        table.bob = Table.Machine(incarnation: 3)
        table.bob.linkMade(to: table.annsUID)
        table.settle()
        #expect(table.executing.count == 1)
    }

    @Test("a system of another version is called by nobody")
    func otherVersion() {
        var table = Table(linked: false)
        table.ann.linkMade(to: table.bobsUID)
        _ = table.ann.takeActions()
        table.call("one")
        var hello = Envelope.hello(Envelope.Hello(incarnation: 5, calls: 1, bytes: 65_536, longest: 1_024))
            .bytes
        hello[5] = 2
        table.ann.receive(hello.span, from: table.bobsUID)
        table.settle()
        #expect(table.told == ["one: incompatible"])
        expect(&table, "two", .incompatible)
    }

    @Test("an answer that cannot be read fails its call, and a call that cannot be read is answered")
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

    @Test("who has checked in is told to every peer that comes, and taken back with the link")
    func checkIns() {
        var table = Table(linked: false)
        let checkIn = Envelope.CheckIn(key: "tills", type: "T", place: .name("till"))
        let (isNew, isNewAgain) = (table.bob.checkIn(checkIn), table.bob.checkIn(checkIn))
        #expect(isNew && !isNewAgain)
        table.link()
        #expect(table.visitors == ["+tills"])
        table.bob.checkOut(.name("till"))
        table.settle()
        #expect(table.visitors == ["+tills", "-tills"])
        _ = table.bob.checkIn(checkIn)
        table.settle()
        table.ann.linkEnded(to: table.bobsUID, EndReason(code: .lost))
        table.settle()
        #expect(table.visitors == ["+tills", "-tills", "+tills", "-tills"])
    }

    @Test("a peer checks in no more than it may")
    func tooManyCheckIns() {
        var table = Table(bob: ActorLimits().with { $0.checkIns = 3 })
        for number in 0..<10 {
            let checkIn = Envelope.CheckIn(key: "\(number)", type: "T", place: .name("till"))
            table.bob.receive(Envelope.checkIn(checkIn).bytes.span, from: table.annsUID)
        }
        table.settle()
        #expect(table.visitors.count == 3)
    }

    @Test("any bytes are taken, and every call is settled once", arguments: 0..<20)
    func chaos(_ seed: Int) {
        var random = Seeded(UInt64(seed))
        var table = Table(bob: ActorLimits().with { $0.calls = 5 })
        var placed = 0
        for _ in 0..<Sanitizer.fewer(2_000) {
            switch Int.random(in: 0..<8, using: &random) {
            case 0...2: if table.call("\(placed)", within: .seconds(1)) == nil { placed += 1 }
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
                    table.ann.linkEnded(to: table.bobsUID, EndReason(code: .lost))
                    table.bob.linkEnded(to: table.annsUID, EndReason(code: .lost))
                    table.settle()
                    table.executing = []
                    table.link()
                }
            }
        }
        table.ann.linkEnded(to: table.bobsUID, EndReason(code: .lost))
        table.settle()
        #expect(table.told.count == placed)
        #expect(Set(table.told.map { $0.prefix { $0 != ":" } }).count == placed)
    }
}

extension ActorLimits {
    func with(_ change: (inout ActorLimits) -> Void) -> ActorLimits {
        var limits = self
        change(&limits)
        return limits
    }
}
