import MultipeerCLI
import TestSupport
import Testing

@Suite("Command: what a receiver remembers of files", .computing)
struct ReceivedFilesTests {
    @Test("a sender that offers files without end makes nothing grow without end")
    func bounded() throws {
        var files = ReceivedFiles()
        for number in 1...3 * FilePosition.most {
            // As it comes in the metadata of a file.
            files.offer(FilePosition(metadata: Array("\(number)/\(3 * FilePosition.most)".utf8)))
            files.offer(FilePosition(metadata: Array("\(number)/\(FilePosition.most)".utf8)))
            let name = "file \(number)"
            if files.obstacle(to: name) == nil { files.receive(name) }
        }
        #expect(files.count == 2 * FilePosition.most)
        #expect(files.obstacle(to: "another") == "100000 files were received in this run")
    }

    @Test("files that were announced and not offered are missing, in whatever order the others came")
    func missing() {
        var files = ReceivedFiles()
        for number in [3, 1, 3] { files.offer(FilePosition(number, of: 4)) }
        files.offer(nil)
        #expect(files.missing == (2, 4))
    }

    @Test("a name is used once in a run")
    func names() {
        var files = ReceivedFiles()
        files.receive("a")
        #expect(files.obstacle(to: "a") == "a file with this name was just received")
        #expect(files.obstacle(to: "b") == nil)
        #expect(files.reserve("b") == nil && files.reserve("b") == files.obstacle(to: "a"))
        files.release("b")
        #expect(files.reserve("b") == nil)
    }
}
