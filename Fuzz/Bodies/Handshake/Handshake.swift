import MultipeerFraming
import MultipeerSimulation

extension FuzzBody {
    /// Two honest sessions and a network that an attacker owns: the input is a list of what happens.
    package static let handshake = FuzzBody("handshake") { bytes throws(BrokenPromise) in
        var input = InputReader(bytes)
        let network = HostileNetwork(isEncrypted: input.byte() & 1 == 1)
        var steps = 0
        while !input.isAtEnd, steps < 400, network.failure == nil {
            steps += 1
            network.step(&input)
        }
        if let failure = network.failure { throw BrokenPromise(description: "\(failure)") }
    }
}

extension HostileNetwork {
    /// Does one step: an operation and its operands, from the front of the input.
    func step(_ input: inout InputReader) {
        let operation = input.byte()
        let side = Int(operation >> 7)
        switch operation & 0x0F {
        case 0, 1: deliver(on: Int(input.byte()), to: side)
        case 2: deliverEverything()
        case 3, 4: answerDial(of: side, Int(input.byte()), by: .peer)
        case 5: answerDial(of: side, Int(input.byte()), by: .attacker)
        case 6: answerDial(of: side, Int(input.byte()), by: .nobody)
        case 7: intrude(on: side)
        case 8: flip(on: Int(input.byte()), to: side, bit: Int(input.byte()) << 8 | Int(input.byte()))
        case 9: inject(on: Int(input.byte()), to: side, forged(&input))
        case 10: replay(on: Int(input.byte()), to: side, Int(input.byte()))
        case 11: decide(on: side, isTrusted: input.byte() & 7 != 0)
        case 12: pass(.milliseconds(Int(input.byte()) * 40))
        case 13: cut(Int(input.byte()))
        case 14: loseLink(of: side, noticedByBoth: input.byte() & 1 == 1)
        default: meddle(with: side, input.byte())
        }
    }

    /// Does one of the rare things: calls of the application, or accidents.
    private func meddle(with side: Int, _ choice: UInt8) {
        switch choice & 3 {
        case 0: restart(side)
        case 1: connect(side)
        case 2: cancel(side)
        default: leave(side)
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
