import Multipeer
import MultipeerCLI
import MultipeerCommandLine
import TestSupport
import Testing

@Suite("Command: input in a room", .inTurns)
struct RoomCommandTests {
    @Test(
        "a line is a command or a message",
        arguments: [
            ("hello  ann ", .say("hello  ann")), ("", .nothing), (" \r", .nothing), ("//x", .say("/x")),
            ("@@x", .say("@x")), ("@ann hi", .whisper("ann hi")), ("/to ann hi", .whisper("ann hi")),
            ("/who", .who), ("/peers", .who), ("/leave", .quit), ("/add abc", .add("abc")),
            ("/send a b.txt", .send("a b.txt")),
            ("/accept 3", .accept(3, into: nil)), ("/accept 3 my dir", .accept(3, into: "my dir")),
            ("/decline 2", .decline(2)), ("/code ann yes", .code("ann yes")), ("/trust yes", .trust(true)),
            ("/quit", .quit), ("/help", .help), ("/data", .data),
            ("/accept x", .wrong("/accept takes a number")),
            ("/to", .wrong("usage: /to NAME text")), ("/who ann", .wrong("usage: /peers")),
            ("/pears", .wrong("unknown command /pears; did you mean /peers?")),
            (
                "/fly\u{7}",
                .wrong("unknown command /fly\\u{7}; /help lists the commands, // sends a line with a slash")
            ),
        ] as [(String, RoomCommand)])
    func order(_ line: String, _ order: RoomCommand) { #expect(RoomCommand(line) == order) }

    @Test("connection data without /add is never sent to the room: it holds a secret")
    func secret() async throws {
        let session = try Session(peer: PeerID(displayName: "ann"))
        let data = try await session.connectionData(mesh: true)
        let line = Base64.encode(data.bytes)
        #expect(RoomCommand(line) == .add(line))
    }

    @Test("a slow reader drops lines until half of its queue is read, and then learns how many are missing")
    func lineQueue() {
        var lineQueue = LineQueue(mostLines: 4, mostBytes: 100)
        #expect(lineQueue.post([1]) == .begins)
        #expect(lineQueue.next() == [1])
        for byte: UInt8 in 2...5 { #expect(lineQueue.post([byte]) == .waits) }
        #expect(lineQueue.post([6]) == .dropped(isFirst: true))
        #expect(lineQueue.post([7]) == .dropped(isFirst: false))
        #expect(lineQueue.next() == [2])
        #expect(lineQueue.recovery() == nil)
        #expect(lineQueue.next() == [3])
        #expect(lineQueue.recovery() == 2)
        #expect(lineQueue.recovery() == nil)
        #expect([lineQueue.next(), lineQueue.next(), lineQueue.next()] == [[4], [5], nil])
        #expect(lineQueue.isIdle)
        #expect(lineQueue.post([UInt8](repeating: 0, count: 101)) == .dropped(isFirst: true))
        #expect(lineQueue.post([8]) == .begins)
        for byte: UInt8 in 9...12 { _ = lineQueue.post([byte]) }
        #expect(lineQueue.next() == [8])
        // The link ends while one line is handed over: the others are named.
        #expect(lineQueue.removeAll() == [[9], [10], [11]] && lineQueue.next() == nil && lineQueue.isIdle)
    }
}
