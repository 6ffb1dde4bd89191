import MultipeerCLI
import TestSupport
import Testing

@Suite("Command: messages in a room", .computing)
struct RoomMessageTests {
    @Test(
        "a line arrives as it was sent, and its recipient is shown",
        arguments: [(false, "ann: hello\n"), (true, "ann > you: hello\n")])
    func line(isPrivate: Bool, shown: String) throws {
        let said = RoomMessage("hello", isPrivate: isPrivate)
        let heard = try #require(RoomMessage(said.bytes))
        #expect(heard == said)
        #expect(heard.shown(from: "ann") == shown)
    }

    @Test(
        "a line to all has the form of 'multipeer link', and one to a single peer begins with a marker byte")
    func form() {
        #expect(RoomMessage("hi", isPrivate: false).bytes == Array("hi\n".utf8))
        #expect(RoomMessage("hi", isPrivate: true).bytes == [1] + Array("hi\n".utf8))
    }

    @Test("each of several lines follows the name, and no line can look like another line or name")
    func lines() {
        let heard = RoomMessage(Array("one\n\ntwo\u{1b}[2K\rbob: three".utf8))
        #expect(heard?.shown(from: "ann") == "ann: one\nann: \nann: two\\u{1b}[2K\\u{d}bob: three\n")
    }

    @Test("the end-of-input message of 'multipeer link' is not shown", arguments: [[UInt8](), [1]])
    func end(bytes: [UInt8]) { #expect(RoomMessage(bytes) == nil) }
}
