import MultipeerCLI
import TestSupport
import Testing

@Suite("Command: what an invitation is about", .computing)
struct PurposeTests {
    @Test("what is announced and what is asked are read as they were written")
    func roundTrip() {
        for purpose in [Purpose.chat(room: "a room"), .receive] {
            #expect(Purpose(info: purpose.info) == purpose)
        }
        for purpose in [Purpose.chat(room: "a room"), .chat(room: ""), .send(files: 3)] {
            #expect(Purpose(context: purpose.context) == purpose)
        }
    }

    @Test(
        "anything else is about nothing",
        arguments: [
            "", "send", "send x", "send 0", "send -1", "fly 1", String(repeating: "chat ", count: 200),
        ])
    func strange(_ text: String) {
        #expect(Purpose(context: Array(text.utf8)) == nil)
        #expect(Purpose(context: [0xff]) == nil)
        #expect(Purpose(context: nil) == nil)
        #expect(Purpose(info: ["does": text]) == nil)
    }
}
