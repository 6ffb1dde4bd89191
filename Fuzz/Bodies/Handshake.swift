import MultipeerFraming

extension FuzzBody {
    /// Two honest sessions and a network that an attacker owns: the input is a list of what happens.
    package static let handshake = FuzzBody("handshake") { bytes throws(BrokenPromise) in
        var input = InputReader(bytes)
        var arena = try Arena(isEncrypted: input.byte() & 1 == 1)
        var steps = 0
        while !input.isAtEnd, steps < 400 {
            steps += 1
            try arena.step(&input)
        }
    }
}

extension Arena {
    /// One thing happens: an operation and its operands, from the front of the input.
    mutating func step(_ input: inout InputReader) throws(BrokenPromise) {
        let operation = input.byte()
        let side = Int(operation >> 7)
        switch operation & 0x0F {
        case 0, 1: try deliver(on: Int(input.byte()), to: side)
        case 2: try deliverEverything()
        case 3, 4: try answerDial(of: side, Int(input.byte()), by: .peer)
        case 5: try answerDial(of: side, Int(input.byte()), by: .attacker)
        case 6: try answerDial(of: side, Int(input.byte()), by: .nobody)
        case 7: try intrude(on: side)
        case 8: flip(on: Int(input.byte()), to: side, bit: Int(input.byte()) << 8 | Int(input.byte()))
        case 9: inject(on: Int(input.byte()), to: side, forged(&input))
        case 10: replay(on: Int(input.byte()), to: side, Int(input.byte()))
        case 11: try decide(on: side, isTrusted: input.byte() & 7 != 0)
        case 12: try pass(.milliseconds(Int(input.byte()) * 40))
        case 13: try cut(Int(input.byte()))
        case 14: try endLink(of: side, mayResume: input.byte() & 1 == 1)
        default: try meddle(with: side, input.byte())
        }
    }

    /// What the application or fate does, rarely.
    private mutating func meddle(with side: Int, _ choice: UInt8) throws(BrokenPromise) {
        switch choice & 3 {
        case 0: try restart(side)
        case 1: try connect(side)
        case 2: try cancel(side)
        default: try answerProbe(of: side)
        }
    }

    private func forged(_ input: inout InputReader) -> [UInt8] {
        let kind = FrameKind(rawValue: input.byte())
        let payload = input.bytes(Int(input.byte()))
        var frame = ByteBuffer()
        frame.appendFrame(kind, payload: payload.span)
        return frame.takeAll()
    }
}
