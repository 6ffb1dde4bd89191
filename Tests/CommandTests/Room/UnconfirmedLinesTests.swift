import Multipeer
import MultipeerCLI
import TestSupport
import Testing

@Suite("Command: lines that may not have arrived", .computing)
struct UnconfirmedLinesTests {
    private static func line(_ text: String) -> [UInt8] { RoomMessage(text, isPrivate: false).bytes }

    @Test(
        "lines after the last confirmed one are named when the link ends, and those that were not sent as such"
    )
    func ends() {
        var lines = UnconfirmedLines()
        lines.add(Self.line("one"))
        #expect(lines.ask() == 1)
        lines.add(Self.line("two"))
        lines.add(RoomMessage("a\u{1b}b", isPrivate: true).bytes)
        // One confirmation is asked for at a time.
        #expect(lines.ask() == nil)
        lines.confirm(upTo: 1)
        #expect(lines.ask() == 3 && lines.count == 2)
        #expect(
            lines.end(unsent: 1, to: "bob") == [
                "may not have arrived at bob: two", "not sent to bob: a\\u{1b}b",
            ])
        #expect(lines.count == 0 && lines.end(unsent: 0, to: "bob").isEmpty && lines.ask() == nil)
    }

    @Test("of very many lines the first are named, the others counted, and little of them is kept")
    func many() {
        var lines = UnconfirmedLines()
        lines.add(Self.line(String(repeating: "x", count: 60_000)))
        for number in 2...1_000 { lines.add(Self.line("\(number)")) }
        let notes = lines.end(unsent: 0, to: "bob")
        #expect(notes.count == 11)
        #expect(notes[0] == "may not have arrived at bob: \(String(repeating: "x", count: 200))...")
        #expect(notes[10] == "may not have arrived at bob: and 990 more lines")
    }
}
