extension FuzzBody {
    /// A script of what happens to two engines on one link: calls, time, a third party's datagrams, changes of the
    /// link.
    package static let dnsEngine = FuzzBody("dns-engine") { bytes throws(BrokenPromise) in
        var input = InputReader(bytes)
        var stage = try DNSEngineStage(seed: UInt64(input.byte()), knownUnique: input.byte() & 3 != 3)
        for _ in 0..<512 where !input.isAtEnd { try stage.step(&input) }
        try stage.end()
    }
}

extension DNSEngineStage {
    /// Carries out the step that one byte, and the operands after it, encode.
    fileprivate mutating func step(_ input: inout InputReader) throws(BrokenPromise) {
        let choice = input.byte()
        let engine = Int(choice >> 7)
        switch choice & 0x1F {
        case 0...2: try wait(.milliseconds(Int(input.byte())))
        case 3: try wait(.milliseconds(100 * Int(input.byte())))
        case 4: try wait(.seconds(Int(input.byte())))
        case 5, 6: try advertise(engine, input.byte())
        case 7: try withdraw(engine, input.byte())
        case 8: try update(engine, input.byte())
        case 9, 10: try browse(engine, input.byte())
        case 11: try stopBrowsing(engine, input.byte())
        case 12, 13: try resolve(engine, input.byte())
        case 14: try miss(engine, input.byte())
        case 15: try changeScope(engine, input.byte())
        case 16: try dropScope(engine, input.byte())
        case 17: try wake(engine)
        case 18: isCut.toggle()
        case 19, 20: try echo(input.byte(), changing: Int(input.byte()), to: input.byte(), as: input.byte())
        case 21...23: try hear(input.byte(), raw: input.bytes(Int(input.byte())))
        default: try hear(input.byte(), composed: &input)
        }
    }
}
