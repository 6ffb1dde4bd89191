import Multipeer
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

    @Test("no peer replaces a file that the run has received from another one, and a peer replaces its own")
    func owners() throws {
        let (ann, cid) = (try PeerID(displayName: "ann"), try PeerID(displayName: "cid"))
        let repeated = "a file with this name was just received"
        let owners = FileOwners(most: 2)
        #expect(owners.claim("a", for: ann) == nil && owners.claim("a", for: cid) == repeated)
        owners.end("a", isReceived: false)
        #expect(owners.claim("a", for: cid) == nil)
        owners.end("a", isReceived: true)
        #expect(owners.claim("a", for: ann) == repeated && owners.claim("a", for: cid) == nil)
        owners.end("a", isReceived: false)
        #expect(owners.claim("a", for: ann) == repeated, "the earlier file is there")
        // Two links of one peer.
        #expect(owners.claim("b", for: ann) == nil && owners.claim("b", for: ann) == nil)
        owners.end("b", isReceived: false)
        #expect(owners.claim("b", for: cid) == repeated)
        #expect(owners.claim("c", for: ann) == "2 files were received in this run")
        owners.end("b", isReceived: false)
        #expect(owners.claim("c", for: ann) == nil)
    }
}
