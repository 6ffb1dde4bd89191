import MultipeerCLI
import TestSupport
import Testing

@Suite("Command: the purpose of an invitation", .computing)
struct PeerRoleTests {
    @Test("purposes survive a round trip in info and context")
    func roundTrip() {
        for purpose in [PeerRole.chat(room: "a room"), .receive, .send(nil), .link] {
            #expect(PeerRole(info: purpose.info) == purpose)
        }
        let files = OfferedFiles([.init(name: "a photo.jpg", size: 3), .init(name: "input", size: nil)])
        for purpose in [
            PeerRole.chat(room: "a room"), .chat(room: ""), .send(files), .text(5), .receive, .link,
        ] {
            #expect(PeerRole(context: purpose.context) == purpose)
        }
    }

    @Test(
        "anything else has no purpose",
        arguments: [
            "", "send x", "send 1", "send 0 -", "send -1 -", "send 1 x", "send 1 -\n3 a\n3 b",
            "send 2 3\nx a",
            "send 2 3\n1 ", "send 9 -\n" + Array(repeating: "1 a", count: 7).joined(separator: "\n"),
            "send 1 -\n1 \(String(repeating: "a", count: 256))", "send 99999999 -", "send 0+0 -",
            "send 1+ -", "send +1 -", "send 1+0 -", "send 1+-1 -", "send 1++1 -", "send 1+100000 -",
            "send 1+9223372036854775807 -", "send 1+1 -\n3/1+2 a", "send 1 -\n3/0+0 a", "text", "text 0",
            "text x", "fly 1", "receive 1",
            "link x",
            String(repeating: "chat ", count: 500),
        ])
    func strange(_ text: String) {
        #expect(PeerRole(context: Array(text.utf8)) == nil)
        #expect(PeerRole(context: [0xff]) == nil)
        #expect(PeerRole(context: nil) == nil)
        #expect(PeerRole(info: ["does": text]) == nil)
    }

    @Test(
        "an offer has the count, the size and the first names, and stays short whatever the files are called")
    func offer() throws {
        let many = OfferedFiles(
            (1...1_000).map { .init(name: String(repeating: "é", count: 9_999), size: $0) })
        #expect(many.contents.count == 1_000 && many.size == 500_500)
        #expect(many.first.count == OfferedFiles.mostListed)
        #expect(PeerRole.send(many).context.count < 2_048)
        #expect(PeerRole(context: PeerRole.send(many).context) == .send(many))
        let broken = OfferedFiles([.init(name: "a\nb", size: .max), .init(name: "c", size: 1)])
        #expect(broken.size == nil && broken.first[0].name == "a b")
    }

    @Test("the question names one file, or counts several and lists the first, with hostile names escaped")
    func question() {
        let one = OfferedFiles([.init(name: "a\u{1b}[2J.jpg", size: 3 << 20)])
        #expect(one.wish == "send 'a\\u{1b}[2J.jpg', 3.0 MiB" && one.list(width: 80).isEmpty)
        #expect(OfferedFiles([.init(name: "input", size: nil)]).wish == "send 'input'")
        let many = OfferedFiles((1...8).map { .init(name: "photo \($0).jpg", size: 1_024) })
        #expect(many.wish == "send 8 files, 8.0 KiB")
        #expect(many.list(width: 80).first == "  photo 1.jpg  1.0 KiB")
        #expect(many.list(width: 80).last == "  and 2 more" && many.list(width: 80).count == 7)
        let long = OfferedFiles(["x", "y"].map { .init(name: String(repeating: $0, count: 200), size: 1) })
        for line in long.list(width: 60) { #expect(line.count <= 60) }
    }

    @Test("directories without files are no files, in the question and on the way")
    func directories() {
        let album = OfferedFiles([.init(name: "album", size: 10, contents: .init(files: 3, directories: 1))])
        #expect(album.wish == "send the directory 'album', 3 files and 1 directory, 10 B")
        let bare = OfferedFiles([.init(name: "bare", size: 0, contents: .init(files: 0, directories: 1))])
        #expect(bare.wish == "send the directory 'bare', 1 directory, 0 B")
        let both = OfferedFiles(bare.first + album.first + [.init(name: "x", size: 1)])
        #expect(both.wish == "send 4 files and 2 directories, 11 B")
        #expect(both.list(width: 80)[1] == "  album/  3 files and 1 directory  10 B")
        for offer in [album, bare, both] {
            #expect(PeerRole(context: PeerRole.send(offer).context) == .send(offer))
        }
        #expect(album.text == "3+1 10\n10/3+1 album")
    }

    @Test("a sender suits a receiver, and everything else suits its like")
    func suits() {
        let purposes = [PeerRole.send(nil), .receive, .link, .chat(room: "a"), .chat(room: "b")]
        for (index, one) in purposes.enumerated() {
            for (place, other) in purposes.enumerated() {
                let isTransfer = index + place == 1
                #expect(one.suits(other) == (isTransfer || (index == place && index > 1)))
            }
        }
    }
}
