import MultipeerFraming
import MultipeerLink
import TestSupport
import Testing

@Suite("10.5 Contents of datagrams", .computing)
struct DatagramContentTests {
    private static let start = PathSituation.start

    @Test("a message uses the path only while it is up, and otherwise the link [dgram.fallback]")
    func fallback() throws {
        for situation in PathSituation.allCases {
            let path = try #require(situation.path())
            #expect(path.canCarry(0) == (situation == .up))
        }
    }

    @Test("the path carries at most 1,150 bytes [dgram.message-max]")
    func largest() throws {
        let path = try #require(PathSituation.up.path())
        #expect(path.canCarry(1_150) && !path.canCarry(1_151) && !path.canCarry(1_000_000))
    }

    @Test(
        "every content has the next number, also after a restart, and both headers are in place [dgram.sequence]"
    )
    func numbers() throws {
        var path = try #require(PathSituation.up.path())
        // The ping of the start had 0.
        #expect(path.content(of: [9]) == [1, 0, 0, 0, 1, 9])
        #expect(path.content(of: []) == [1, 0, 0, 0, 2])
        _ = path.take(.ping, sequence: 1, token: 77, at: Self.start)
        #expect(path.takeActions() == [.send([3, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 77])])
        path.receive(PathSituation.remote, at: Self.start)
        path.established(at: Self.start)
        #expect(path.takeActions().last == .send([2, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 2]))
    }

    @Test(
        "a repeated number is dropped, protected or not [dgram.sequence]", arguments: [true, false])
    func repeats(_ isProtected: Bool) throws {
        var path = try #require(PathSituation.up.path(isProtected: isProtected))
        #expect(path.message(5).isMessage)
        #expect(!path.message(5).isMessage)
        #expect(path.message(3).isMessage)
        #expect(!path.message(3).isMessage && !path.message(5).isMessage)
        #expect(path.dropped == 3)
    }

    @Test("a content overtaken by 63 others is accepted, one overtaken by 64 is not [dgram.sequence]")
    func windowEdge() throws {
        for (late, isTaken) in [(UInt32(137), true), (136, false), (135, false)] {
            var path = try #require(PathSituation.up.path())
            #expect(path.message(200).isMessage)
            #expect(path.message(late).isMessage == isTaken)
        }
    }

    @Test(
        "after a jump ahead repeated numbers are still dropped, whatever its width [dgram.sequence]",
        arguments: [1, 63, 64, 65, 1_000])
    func leaps(_ width: UInt32) throws {
        var path = try #require(PathSituation.up.path())
        #expect(path.message(10).isMessage && path.message(10 + width).isMessage)
        #expect(!path.message(10).isMessage && !path.message(10 + width).isMessage)
        #expect(path.message(10 + width + 1).isMessage)
    }

    @Test("numbers wrap around after the last one [dgram.sequence]")
    func wrap() throws {
        var path = try #require(PathSituation.up.path())
        let numbers: [UInt32] = [0x7FFF_FFF0, 0xFFFF_FFE0, .max, 1, 0, .max - 1]
        #expect(numbers.allSatisfy { path.message($0).isMessage })
        #expect(numbers.dropFirst(2).allSatisfy { !path.message($0).isMessage })
    }

    @Test("the window agrees with a list of all received numbers [dgram.sequence]", arguments: 0..<20)
    func model(_ seed: Int) throws {
        var random = Seeded(UInt64(seed))
        var path = try #require(PathSituation.up.path())
        // The pong that brought the path up had 0.
        var seen: Set<UInt32> = [0]
        var highest: UInt32 = 0
        for _ in 0..<5_000 {
            let spread = Int64.random(in: -80...(random.next() % 8 == 0 ? 80 : 2), using: &random)
            let number = UInt32(max(0, Int64(highest) + spread))
            let isExpected = !seen.contains(number) && Int64(number) > Int64(highest) - 64
            #expect(path.message(number).isMessage == isExpected)
            seen.insert(number)
            highest = max(highest, number)
        }
    }

    @Test(
        "the peer's address is that of its newest protected content; a plain one does not change it [dgram.address]"
    )
    func address() throws {
        var path = try #require(PathSituation.up.path())
        #expect(path.message(10).movesPeer)
        #expect(!path.message(9).movesPeer, "an older content may come from where the peer was")
        #expect(!path.message(10).movesPeer, "a repeated one may come from anywhere")
        #expect(!path.take([1, 0, 0], at: Self.start).movesPeer)
        #expect(path.take(.ping, sequence: 11, token: 0, at: Self.start).movesPeer)
        #expect(path.take(.pong, sequence: 12, token: 0, at: Self.start).movesPeer)
        var plain = try #require(PathSituation.up.path(isProtected: false))
        #expect(!plain.message(10).movesPeer && plain.message(11).isMessage)
    }

    @Test("unreadable contents are dropped and counted [dgram.drop]")
    func junk() throws {
        var path = try #require(PathSituation.up.path())
        let contents: [[UInt8]] = [
            [], [1], [1, 0, 0, 0], [0, 0, 0, 0, 1], [4, 0, 0, 0, 1], [2, 0, 0, 0, 1],
            [3, 0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7],
            [2, 0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9],
            [1, 0, 0, 0, 1] + [UInt8](repeating: 0, count: 1_151),
        ]
        for content in contents {
            #expect(path.take(content, at: Self.start) == path.take([], at: Self.start))
        }
        #expect(path.dropped == 2 * contents.count && path.takeActions().isEmpty)
        // None of them used up a number.
        #expect(path.message(1).isMessage)
    }

    @Test("only a few at a time of endless PINGs are answered")
    func manyPings() throws {
        var path = try #require(PathSituation.up.path())
        for number in 1...1_000 as ClosedRange<UInt32> {
            _ = path.take(.ping, sequence: number, token: 0, at: Self.start)
        }
        #expect(path.takeActions().count == 16)
        _ = path.take(.ping, sequence: 1_001, token: 0, at: Self.start)
        #expect(path.takeActions().count == 1)
    }

    @Test("random contents never break a path")
    func random() throws {
        var random = Seeded(12)
        for isProtected in [true, false] {
            var path = try #require(PathSituation.up.path(isProtected: isProtected))
            for _ in 0..<20_000 {
                var content = random.bytes(Int.random(in: 0...20, using: &random))
                if !content.isEmpty { content[0] &= 3 }
                _ = path.take(content, at: Self.start)
            }
            #expect(path.canCarry(1))
        }
    }
}

extension DatagramPath {
    fileprivate mutating func message(_ sequence: UInt32) -> Verdict {
        var content = ByteBuffer()
        ContentHeader(.message, sequence: sequence).encode(into: &content)
        content.append([42])
        return take(content.takeAll(), at: PathSituation.start)
    }
}
