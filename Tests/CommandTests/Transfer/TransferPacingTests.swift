import MultipeerCLI
import TestSupport
import Testing

@Suite("Command: how many files are on their way, and how fast", .computing)
struct TransferPacingTests {
    @Test("many small files are on their way at once, and a large one alone")
    func window() {
        var window = TransferWindow()
        var count = 0
        while window.begin(10) { count += 1 }
        #expect(count == TransferWindow.mostFiles)
        window.end(10)
        #expect(window.begin(10) && !window.begin(10))
        var large = TransferWindow()
        #expect(large.begin(1 << 40) && !large.begin(1))
        large.end(1 << 40)
        #expect(large.isEmpty && large.begin(nil) && !large.begin(0))
        large.end(nil)
        #expect(large.begin(1) && !large.begin(1 << 40) && !large.begin(nil))
    }

    @Test("a limit lets bytes leave at its rate, after a burst of a tenth of a second")
    func rate() {
        var limit = RateLimit(1_000)
        #expect(limit.piece == 100)
        #expect(limit.take(100, at: .zero) == .zero)
        #expect(limit.take(100, at: .zero) == .milliseconds(100))
        #expect(limit.take(100, at: .zero) == .milliseconds(200))
        // Time pays: what is left is the debt of 200 bytes, less 100 of a tenth of a second.
        #expect(limit.take(0, at: .milliseconds(100)) == .milliseconds(100))
        // A long pause saves no more than the burst.
        #expect(limit.take(100, at: .seconds(60)) == .zero)
        #expect(limit.take(50, at: .seconds(60)) == .milliseconds(50))
        // A clock that goes back adds nothing.
        #expect(limit.take(0, at: .seconds(59)) == .milliseconds(50))
    }

    @Test(
        "any rate gives pieces of at least a byte and at most those of a file",
        arguments: [0, 1, 9, 1 << 62] as [UInt64])
    func pieces(_ rate: UInt64) {
        #expect((1...262_144).contains(RateLimit(rate).piece))
    }
}

@Suite("Command: notes of a receiver about files", .computing)
struct TransferNoteTests {
    @Test("a note is read as it was written")
    func roundTrip() {
        for subject in [
            .exists, .differs, .repeated, .tooLarge, .badName, .obstructed, .renamed("a b~1.txt"),
        ] as [TransferNote.Subject] + TransferNote.Trouble.allCases.map({ .trouble($0) }) {
            let note = TransferNote(7, subject)
            #expect(TransferNote(message: note.message) == note)
        }
        let words = TransferNote.Trouble.allCases.map { TransferNote.Subject.trouble($0).reason("ann") }
        #expect(Set(words).count == words.count)
        // A verdict about many has no such word, which older senders would not understand.
        #expect(BundleVerdict.text([.refused(.trouble(.quota)), .refused(.exists)]) == "failed exists")
        #expect(TransferNote(3, .exists).message == Array("files/1 3 exists".utf8))
        #expect(
            TransferNote.Subject.exists.reason("ann") == "ann has a file of this name, which was not compared"
        )
        #expect(TransferNote.Subject.differs.reason("ann") == "ann has a different file of this name")
    }

    @Test(
        "any other message is no note",
        arguments: [
            "", "files/1", "files/1 3", "files/1 3 ", "files/2 3 exists", "files/1 0 exists",
            "files/1 x exists",
            "files/1 100001 exists", "files/1 3 exists more", "files/1 3 renamed", "files/1 3 renamed ",
            "files/1 3 later",
        ])
    func foreign(_ text: String) { #expect(TransferNote(message: Array(text.utf8)) == nil) }
}
