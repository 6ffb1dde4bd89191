import MultipeerFraming
import MultipeerHandshake
import MultipeerSecurity

extension FuzzBody {
    /// Two ends that compare codes, a network that swaps what it carries, and frames of a third party. The first byte
    /// says whether both ends have the same key, which a man in the middle would not let them have.
    package static let verificationCode = FuzzBody("verification-code") { bytes throws(BrokenPromise) in
        var input = InputReader(bytes)
        var stage = CodeStage(input.byte())
        var steps = 0
        while !input.isAtEnd, steps < 100 {
            steps += 1
            try stage.step(&input)
        }
        try stage.settle()
    }
}

private struct CodeStage: ~Copyable {
    /// One end, and the frames that it has sent and that have not arrived.
    private struct End: ~Copyable {
        var machine: VerificationCode
        let nonce: [UInt8]
        let isControlling: Bool
        var hasAsked = false
        var wasTold = false
        var fault: VerificationCode.Violation?
        var said: [Frame] = []

        init(_ part: Selection.Part, key: UInt8, nonce: UInt8) {
            self.nonce = [UInt8](repeating: nonce, count: 32)
            isControlling = part == .controlling
            machine = VerificationCode(
                as: part, key: SecureBytes([UInt8](repeating: key, count: 32)),
                nonce: SecureBytes(self.nonce))
        }

        mutating func ask() throws(BrokenPromise) {
            hasAsked = true
            if let frame = machine.ask() { try say(frame) }
        }

        mutating func receive(_ frame: Frame) throws(BrokenPromise) {
            guard fault == nil else { return }
            let before = machine.code
            let answer: VerificationCode.Answer
            do throws(VerificationCode.Violation) {
                answer = try machine.receive(frame)
            } catch {
                fault = error
                return try promise(machine.code == nil, "there is no code after a violation")
            }
            try promise(before == nil || machine.code == before, "a code does not change")
            switch answer {
            case .nothing, .declined: break
            case .confirmed: try promise(before != nil, "only a code is confirmed")
            case .say(let frame): try say(frame)
            case .tellApplication:
                try promise(!wasTold && !hasAsked, "an application that has not asked is notified once")
                wasTold = true
            }
        }

        mutating func answer(_ isYes: Bool) throws(BrokenPromise) {
            let frame = isYes ? machine.confirm() : machine.decline()
            guard let frame else { return }
            try promise(
                isYes ? machine.code != nil : !hasAsked, "a code is confirmed, an unasked run declined")
            said.append(frame)
        }

        private mutating func say(_ frame: Frame) throws(BrokenPromise) {
            try promise(hasAsked, "nothing is sent before the end's own application asks")
            said.append(frame)
            switch frame {
            case .codeReveal: try promise(isControlling, "the controlling end reveals")
            case .codeNonce: try promise(!isControlling, "the controlled end sends its nonce")
            case .codeCommit: try promise(isControlling, "the controlling end commits")
            default: try promise(!isControlling, "the controlled end requests")
            }
        }
    }

    private var first: End
    private var second: End
    private let isHonest: Bool
    private var wasTouched = false

    init(_ choice: UInt8) {
        isHonest = choice & 1 == 0
        first = End(.controlling, key: 1, nonce: choice)
        second = End(.controlled, key: isHonest ? 1 : 2, nonce: ~choice)
    }

    mutating func step(_ input: inout InputReader) throws(BrokenPromise) {
        let operation = input.byte()
        let isFirst = operation & 0x80 == 0
        switch operation & 7 {
        case 0: if isFirst { try first.ask() } else { try second.ask() }
        case 1, 2: try deliver(toFirst: isFirst)
        case 3:
            // One more time.
            if isFirst, let frame = second.said.last { second.said.append(frame) }
            if !isFirst, let frame = first.said.last { first.said.append(frame) }
            wasTouched = true
        case 4:
            wasTouched = true
            let value = [UInt8](repeating: input.byte(), count: 32)
            let commitment = VerificationCode.commitment(to: SecureBytes(value))
            let frames: [Frame] = [
                .codeRequest, .codeCommit(commitment), .codeCommit(value), .codeNonce(value),
                .codeReveal(value), .codeResult(.ok), .codeResult(.declined),
                .codeResult(CloseCode(rawValue: UInt16(value[0]))),
                .ping(value.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }),
            ]
            let frame = frames[Int(input.byte()) % frames.count]
            if isFirst { try first.receive(frame) } else { try second.receive(frame) }
        case 5:
            let isYes = operation & 0x40 == 0
            if isFirst { try first.answer(isYes) } else { try second.answer(isYes) }
        default:
            try first.ask()
            try second.ask()
        }
    }

    private mutating func deliver(toFirst: Bool) throws(BrokenPromise) {
        if toFirst {
            guard !second.said.isEmpty else { return }
            try first.receive(second.said.removeFirst())
        } else {
            guard !first.said.isEmpty else { return }
            try second.receive(first.said.removeFirst())
        }
    }

    mutating func settle() throws(BrokenPromise) {
        for _ in 0..<4 {
            try deliver(toFirst: true)
            try deliver(toFirst: false)
        }
        for fault in [first.fault, second.fault].compactMap(\.self) {
            try promise(wasTouched, "two honest ends have no fault: \(fault)")
            try promise(
                !"\(fault)".isEmpty && fault.closeCode != .ok, "a violation has a description and a code")
        }
        if let code = first.machine.code { try promise(isCode(code), "a code has twelve digits: \(code)") }
        guard !wasTouched, first.hasAsked, second.hasAsked else { return }
        try promise(
            first.machine.code != nil && second.machine.code != nil,
            "two ends that have both asked have a code")
        if isHonest { try promise(first.machine.code == second.machine.code, "and it is the same") }
    }

    private func isCode(_ text: String) -> Bool {
        text.utf8.count == 12 && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}
