import MultipeerTransport
import TestSupport
import Testing

@Suite("9.6 Turns of files", .inTurns)
struct FileTurnTests {
    /// Descriptors that do not exist.
    private final class Supply: Sendable {
        private let free: Locked<Int>
        private let least = Locked<[Int]>([])
        private let order = Locked<[Int]>([])
        let isWanted = Locked(true)

        init(_ count: Int) { free = Locked(count) }

        func take(leaving count: Int) -> Bool {
            least.withLock { $0.append(count) }
            return free.withLock { free in
                if free == 0 { return false }
                free -= 1
                return true
            }
        }

        func came(_ number: Int) { order.withLock { $0.append(number) } }
        var inOrder: [Int] { order.withLock { $0 } }

        func giveBack() { free.withLock { $0 += 1 } }

        /// How many had to be left, each time.
        var left: [Int] { least.withLock { $0 } }
    }

    @Test("a file waits until another gives up its descriptor, in their order [resource.files]")
    func order() async throws {
        let supply = Supply(1)
        let turns = FileTurns { supply.take(leaving: $0) }
        let first = FileTurn(.incoming, in: turns)
        #expect(first.comesAtOnce())
        var tasks: [Task<Bool, Never>] = []
        for number in 0..<4 {
            let turn = FileTurn(.incoming, in: turns)
            #expect(!turn.comesAtOnce())
            let begun = Promise<Void>()
            tasks.append(
                Task {
                    let isMine = await turn.wait {
                        begun.send(())
                        return true
                    }
                    supply.came(number)
                    supply.giveBack()
                    turn.end()
                    return isMine
                })
            await begun.value()
        }
        supply.giveBack()
        first.end()
        for task in tasks { #expect(await task.value) }
        #expect(supply.inOrder == [0, 1, 2, 3])
    }

    @Test("one file that comes and one that goes leave the reserve alone, further ones more")
    func directions() {
        let supply = Supply(4)
        let turns = FileTurns { supply.take(leaving: $0) }
        let directions = [FileTurn.Direction.incoming, .incoming, .outgoing, .outgoing]
        let all = directions.map { FileTurn($0, in: turns) }
        for turn in all { #expect(turn.comesAtOnce()) }
        let more = Descriptors.reserved + FileTurns.leftForOthers
        #expect(supply.left == [Descriptors.reserved, more, Descriptors.reserved, more])
    }

    @Test("a file that comes does not wait after files that go")
    func lanes() async {
        let turns = FileTurns { $0 == Descriptors.reserved }
        let (first, second) = (FileTurn(.outgoing, in: turns), FileTurn(.outgoing, in: turns))
        #expect(first.comesAtOnce())
        let begun = Promise<Void>()
        let task = Task {
            await second.wait {
                begun.send(())
                return true
            }
        }
        await begun.value()
        #expect(FileTurn(.incoming, in: turns).comesAtOnce())
        first.end()
        #expect(await task.value)
    }

    @Test("a file is refused when no transfer could give up a descriptor, and waits only while it is wanted")
    func refusal() async {
        let supply = Supply(1)
        let turns = FileTurns(grace: .milliseconds(1)) { supply.take(leaving: $0) }
        let held = FileTurn(.outgoing, in: turns)
        #expect(held.comesAtOnce())
        let (waiting, begun) = (FileTurn(.incoming, in: turns), Promise<Void>())
        let task = Task {
            await waiting.wait {
                begun.send(())
                return supply.isWanted.withLock { $0 }
            }
        }
        await begun.value()
        supply.isWanted.withLock { $0 = false }
        waiting.look()
        #expect(await task.value == false)
        held.end()
        #expect(await FileTurn(.incoming, in: turns).wait() == false)
        supply.giveBack()
        #expect(FileTurn(.incoming, in: turns).comesAtOnce())
    }

    @Test("what cannot be opened in its turn waits for another, and is refused when there is none")
    func retry() async {
        let turns = FileTurns(grace: .milliseconds(1)) { _ in true }
        let turn = FileTurn(.incoming, in: turns)
        #expect(turn.comesAtOnce())
        var tries = 0
        while await turn.wait() { tries += 1 }
        #expect(tries < 3)
    }
}
