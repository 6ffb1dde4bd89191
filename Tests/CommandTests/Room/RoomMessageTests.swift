import Foundation
import Multipeer
import MultipeerCLI
import MultipeerCommandLine
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

    @Test("a long text becomes several messages, whose text together is the same, with no character cut")
    func long() throws {
        for (text, most, parts) in [
            ("hello", 20, ["hello"]), ("hello", 6, ["hell", "o"]),
            ("one\ntwo three", 10, ["one", "two thre", "e"]),
            ("one\ntwo", 9, ["one\ntwo"]), ("ééé", 7, ["éé", "é"]), ("日本語", 6, ["日", "本", "語"]),
            ("", 9, [""]),
            ("\n\n\n\n\n\n", 6, ["\n\n\n", "\n\n"]),
        ] {
            let messages = RoomMessage.all(text, isPrivate: true, most: most)
            #expect(messages.allSatisfy { $0.bytes.count <= most }, "\(text)")
            #expect(messages.map(\.text) == parts.map { "\($0)\n" }, "\(text)")
        }
        let text = String(repeating: "日本語", count: 60_000)
        let messages = RoomMessage.all(text, isPrivate: false)
        #expect(messages.map { $0.text.dropLast() }.joined() == text && messages.count == 9)
    }

    @Test("each of several lines follows the name, and no line can look like another line or name")
    func lines() {
        let heard = RoomMessage(Array("one\n\ntwo\u{1b}[2K\rbob: three".utf8))
        #expect(heard?.shown(from: "ann") == "ann: one\nann: \nann: two\\u{1b}[2K\nann: bob: three\n")
        let other = RoomMessage(Array("one\r\ntwo\rthree".utf8))
        #expect(other?.shown(from: "ann") == "ann: one\nann: two\nann: three\n")
    }

    @Test(
        "on a terminal each line has the time before the name, which has the peer's colour unless none is wanted"
    )
    func styles() throws {
        let uid = try #require(UID([UInt8](repeating: 1, count: 16)))
        let ann = try PeerID(uid: uid, displayName: "ann")
        let heard = RoomMessage(Array("one\ntwo\n".utf8))
        let (plain, bare) = (LineStyle.plain, LineStyle(time: "09:05", hasColours: false))
        #expect(heard?.shown(from: plain.name("ann", of: ann), in: plain) == "ann: one\nann: two\n")
        #expect(heard?.shown(from: bare.name("ann", of: ann), in: bare) == "09:05 ann: one\n09:05 ann: two\n")
        let colours = LineStyle(time: "09:05", hasColours: true)
        let head = "\u{1b}[2m09:05\u{1b}[0m \u{1b}[31mann\u{1b}[0m: "
        #expect(heard?.shown(from: colours.name("ann", of: ann), in: colours) == "\(head)one\n\(head)two\n")
        #expect(
            [[:], ["NO_COLOR": ""], ["NO_COLOR": "0"]].map(LineStyle.wantsColours) == [true, true, false])
    }

    @Test("the time is that of the time zone")
    func time() {
        let seconds = 1_795_000_000
        let format = DateFormatter()
        format.dateFormat = "HH:mm"
        format.locale = Locale(identifier: "en_US_POSIX")
        #expect(
            LocalTime.hoursAndMinutes(seconds)
                == format.string(from: Date(timeIntervalSince1970: Double(seconds))))
    }

    @Test(
        "the time in UTC is that of ISO 8601",
        arguments: [0, 951_782_399, 951_782_400, 1_795_000_000, 253_402_300_799, -1, -11_644_473_600])
    func universal(_ seconds: Int) {
        let date = Date(timeIntervalSince1970: Double(seconds))
        #expect(LocalTime.universal(seconds) == date.ISO8601Format())
    }

    @Test("the end-of-input message of 'multipeer link' is not shown", arguments: [[UInt8](), [1]])
    func end(bytes: [UInt8]) { #expect(RoomMessage(bytes) == nil) }
}
