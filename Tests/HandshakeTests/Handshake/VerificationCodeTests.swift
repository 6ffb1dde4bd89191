import MultipeerFraming
import MultipeerHandshake
import MultipeerSecurity
import TestSupport
import Testing

@Suite("13 Verification code", .computing)
struct VerificationCodeTests {
    typealias Machine = VerificationCode

    /// Every phase of both parts, and how a machine gets there.
    enum Place: CaseIterable, Sendable {
        case controllingIdle, wanted, committed, controllingAgreed, controllingFailed
        case controlledIdle, offered, requested, answered, controlledAgreed, controlledFailed
    }

    /// Everything that can happen to a machine.
    enum Input: CaseIterable, Sendable {
        case ask, request, commit, nonce, reveal, wrongReveal, confirmed, declined, wrongResult, otherFrame
    }

    enum Outcome: Equatable, Sendable {
        case says(Frame?)
        case tells
        case answers(Bool)
        case violates(Machine.Violation)

        var isSaid: Bool { if case .says(let frame) = self { frame != nil } else { false } }
    }

    static let key = SecureBytes([UInt8](repeating: 7, count: 32))
    static let annsNonce = [UInt8](repeating: 0xA0, count: 32)
    static let bobsNonce = [UInt8](repeating: 0xB0, count: 32)
    static let commitment = Machine.commitment(to: SecureBytes(annsNonce))
    static let code = Machine.digits(key: key, controlling: annsNonce, controlled: bobsNonce)

    @Test(
        "each phase accepts each frame as in the table, and no other [sas.order] [sas.role] [sas.requested] [sas.once]"
    )
    func table() {
        for place in Place.allCases {
            for input in Input.allCases {
                let machine = Self.machine(in: place)
                let before = machine.code
                #expect(Self.give(input, to: machine) == Self.expected(place, input), "\(place), \(input)")
                let completes = [Place.committed: Input.nonce, .answered: .reveal][place] == input
                let keeps =
                    before != nil && [.ask, .request, .confirmed].contains(input)
                    && Self.isAllowed(place, input)
                #expect(machine.code == (completes || keeps ? Self.code : nil), "\(place), \(input)")
            }
        }
    }

    @Test("an end sends nothing before its own application asks, whatever arrives [sas.requested]")
    func unasked() {
        let frames = Input.allCases.filter { $0 != .ask }
        for part in [Selection.Part.controlling, .controlled] {
            for first in frames {
                for second in frames {
                    for third in frames {
                        let machine = End(as: part, key: Self.key, nonce: SecureBytes(Self.annsNonce))
                        let outcomes = [first, second, third].map { Self.give($0, to: machine) }
                        #expect(outcomes.allSatisfy { !$0.isSaid }, "\(first), \(second), \(third)")
                        #expect(outcomes.count { $0 == .tells } <= 1)
                        #expect(machine.code == nil)
                    }
                }
            }
        }
    }

    @Test(
        "a frame that came before the application asked is answered when it does [sas.requested] [sas.role]")
    func askedLater() {
        for place in [Place.wanted, .offered] {
            let machine = Self.machine(in: place)
            #expect(machine.code == nil)
            let due = place == .wanted ? Frame.codeCommit(Self.commitment) : .codeNonce(Self.bobsNonce)
            #expect(machine.ask() == due)
            #expect(machine.ask() == nil)
        }
    }

    @Test(
        "whichever end asks first, or both at once, both get the same code in one run [sas.role] [sas.once]")
    func eitherAsks() throws {
        for asking in [(true, false), (false, true), (true, true)] {
            let link = Pair(Self.key, Self.key, seed: 1)
            var frames = try link.run(annAsks: asking.0, bobAsks: asking.1)
            if asking != (true, true) {
                // One frame that neither can use, and both wait for the other application.
                #expect(frames == 1 && link.ann.code == nil && link.bob.code == nil)
                frames += try link.run(annAsks: asking.1, bobAsks: asking.0)
            }
            let code = try #require(link.ann.code)
            #expect(link.bob.code == code)
            #expect(frames == (asking.1 ? 4 : 3))
            // An application that asks again gets the present result; nothing more is sent.
            #expect(try link.run(annAsks: true, bobAsks: true) == 0)
            #expect(link.ann.code == code && link.bob.code == code)
        }
    }

    @Test("a second run is refused, from either end, and removes the code [sas.once]")
    func secondRun() {
        let bob = Self.machine(in: .controlledAgreed)
        #expect(throws: Machine.Violation.outOfOrder) { try bob.receive(.codeCommit(Self.commitment)) }
        #expect(bob.code == nil)
        let ann = Self.machine(in: .controllingAgreed)
        #expect(throws: Machine.Violation.outOfOrder) { try ann.receive(.codeNonce(Self.bobsNonce)) }
        #expect(ann.code == nil)
    }

    @Test("a reveal that differs in any byte is refused with BAD_MAC, and there is no code [sas.commit]")
    func wrongReveal() {
        for index in 0..<32 {
            var nonce = Self.annsNonce
            nonce[index] ^= 1 << UInt8(index % 8)
            let bob = Self.machine(in: .answered)
            #expect(throws: Machine.Violation.wrongReveal) { try bob.receive(.codeReveal(nonce)) }
            #expect(bob.code == nil)
        }
        #expect(Machine.Violation.wrongReveal.closeCode == .badMAC)
        #expect(Machine.Violation.outOfOrder.closeCode == .protocolError)
    }

    @Test("the committed nonce is not sent before the peer's has arrived [sas.reveal]")
    func reveal() throws {
        let ann = Self.machine(in: .controllingIdle)
        let first = try #require(ann.ask())
        #expect(first == .codeCommit(Self.commitment))
        #expect(ann.ask() == nil)
        #expect(try ann.receive(.codeRequest) == .nothing)
        #expect(ann.code == nil)
        #expect(try ann.receive(.codeNonce(Self.bobsNonce)) == .say(.codeReveal(Self.annsNonce)))
    }

    @Test("a code always has twelve digits, even with leading zeros [sas.value]")
    func leadingZeros() {
        var randomness = Seeded(13)
        var zeros = 0
        for _ in 0..<3_000 {
            let digits = Machine.digits(
                key: Self.key, controlling: randomness.bytes(32), controlled: Self.bobsNonce)
            #expect(digits.utf8.count == 12 && digits.allSatisfy { $0.isASCII && $0.isNumber })
            if digits.hasPrefix("00") { zeros += 1 }
        }
        // One in a hundred.
        #expect((10...60).contains(zeros))
    }

    @Test("two ends with different keys see different codes, except for one in a million [sas.value]")
    func middle() throws {
        var randomness = Seeded(1)
        var equal = 0
        for round in 0..<20_000 {
            // A man in the middle relays every frame, but has one key with each of the two.
            let keys = (SecureBytes(randomness.bytes(32)), SecureBytes(randomness.bytes(32)))
            let link = Pair(keys.0, keys.1, seed: UInt64(round))
            _ = try link.run(annAsks: true, bobAsks: true)
            #expect(link.ann.code != nil && link.bob.code != nil)
            if link.ann.code == link.bob.code { equal += 1 }
        }
        #expect(equal <= 1)
    }

    @Test("a man in the middle of two runs is committed before it can compare [sas.commit] [sas.reveal]")
    func search() throws {
        // To ann it is bob: its nonce is out before it sees hers, and a better one comes too late.
        let ann = Self.machine(in: .committed)
        let answer = try ann.receive(.codeNonce([UInt8](repeating: 1, count: 32)))
        #expect(answer == .say(.codeReveal(Self.annsNonce)))
        #expect(throws: Machine.Violation.outOfOrder) {
            try ann.receive(.codeNonce([UInt8](repeating: 2, count: 32)))
        }
        // To bob it is ann: it knows his nonce, and can find one of its own that gives any code, but not reveal it.
        let bob = Self.machine(in: .requested)
        let own = SecureBytes([UInt8](repeating: 3, count: 32))
        #expect(try bob.receive(.codeCommit(Machine.commitment(to: own))) == .say(.codeNonce(Self.bobsNonce)))
        #expect(throws: Machine.Violation.wrongReveal) {
            try bob.receive(.codeReveal([UInt8](repeating: 4, count: 32)))
        }
    }
}

extension VerificationCodeTests {
    private static func isAllowed(_ place: Place, _ input: Input) -> Bool {
        if case .violates = expected(place, input) { false } else { true }
    }

    /// The rules of chapter 13: what is not in them is refused with PROTOCOL.
    private static func expected(_ place: Place, _ input: Input) -> Outcome {
        switch (place, input) {
        case (.controllingIdle, .ask), (.wanted, .ask): .says(.codeCommit(commitment))
        case (.controlledIdle, .ask): .says(.codeRequest)
        case (.offered, .ask), (.requested, .commit): .says(.codeNonce(bobsNonce))
        case (_, .ask): .says(nil)
        case (.controllingIdle, .request), (.controlledIdle, .commit): .tells
        case (.wanted, .request), (.committed, .request), (.controllingAgreed, .request): .says(nil)
        case (.committed, .nonce): .says(.codeReveal(annsNonce))
        case (.answered, .reveal): .says(nil)
        case (.controllingAgreed, .confirmed), (.controlledAgreed, .confirmed): .answers(true)
        case (.requested, .declined), (.committed, .declined): .answers(false)
        case (.answered, .wrongReveal): .violates(.wrongReveal)
        default: .violates(.outOfOrder)
        }
    }

    private static func give(_ input: Input, to machine: End) -> Outcome {
        let frame: Frame
        switch input {
        case .ask: return .says(machine.ask())
        case .request: frame = .codeRequest
        case .commit: frame = .codeCommit(commitment)
        case .nonce: frame = .codeNonce(bobsNonce)
        case .reveal: frame = .codeReveal(annsNonce)
        case .wrongReveal: frame = .codeReveal(bobsNonce)
        case .confirmed: frame = .codeResult(.ok)
        case .declined: frame = .codeResult(.declined)
        case .wrongResult: frame = .codeResult(.wrongCode)
        case .otherFrame: frame = .ping(1)
        }
        do throws(VerificationCode.Violation) {
            switch try machine.receive(frame) {
            case .nothing: return .says(nil)
            case .say(let answer): return .says(answer)
            case .tellApplication: return .tells
            case .confirmed: return .answers(true)
            case .declined: return .answers(false)
            }
        } catch {
            return .violates(error)
        }
    }

    private static func machine(in place: Place) -> End {
        let steps: (part: Selection.Part, inputs: [Input]) =
            switch place {
            case .controllingIdle: (.controlling, [])
            case .wanted: (.controlling, [.request])
            case .committed: (.controlling, [.ask])
            case .controllingAgreed: (.controlling, [.ask, .nonce])
            case .controllingFailed: (.controlling, [.ask, .nonce, .nonce])
            case .controlledIdle: (.controlled, [])
            case .offered: (.controlled, [.commit])
            case .requested: (.controlled, [.ask])
            case .answered: (.controlled, [.commit, .ask])
            case .controlledAgreed: (.controlled, [.ask, .commit, .reveal])
            case .controlledFailed: (.controlled, [.ask, .commit, .wrongReveal])
            }
        let nonce = steps.part == .controlling ? annsNonce : bobsNonce
        let machine = End(as: steps.part, key: key, nonce: SecureBytes(nonce))
        for input in steps.inputs { _ = give(input, to: machine) }
        return machine
    }
}

/// A machine that can be an argument of the macros.
private final class End {
    private var machine: VerificationCode

    init(as part: Selection.Part, key: SecureBytes, nonce: SecureBytes) {
        machine = VerificationCode(as: part, key: key, nonce: nonce)
    }

    var code: String? { machine.code }
    func ask() -> Frame? { machine.ask() }
    func receive(_ frame: Frame) throws(VerificationCode.Violation) -> VerificationCode.Answer {
        try machine.receive(frame)
    }
}

/// Two machines whose frames go straight to each other; ann is the controlling one.
private struct Pair {
    let ann: End
    let bob: End

    init(_ annsKey: SecureBytes, _ bobsKey: SecureBytes, seed: UInt64) {
        var randomness = Seeded(seed)
        ann = End(as: .controlling, key: annsKey, nonce: SecureBytes(randomness.bytes(32)))
        bob = End(as: .controlled, key: bobsKey, nonce: SecureBytes(randomness.bytes(32)))
    }

    /// Does one run. Returns how many frames were sent, including those that cross.
    func run(annAsks: Bool, bobAsks: Bool) throws -> Int {
        var toBob = annAsks ? [ann.ask()].compactMap { $0 } : []
        var toAnn = bobAsks ? [bob.ask()].compactMap { $0 } : []
        var count = 0
        while !toBob.isEmpty || !toAnn.isEmpty {
            let (forBob, forAnn) = (toBob, toAnn)
            (toBob, toAnn) = ([], [])
            count += forBob.count + forAnn.count
            for frame in forBob { if case .say(let answer) = try bob.receive(frame) { toAnn.append(answer) } }
            for frame in forAnn { if case .say(let answer) = try ann.receive(frame) { toBob.append(answer) } }
        }
        return count
    }
}
