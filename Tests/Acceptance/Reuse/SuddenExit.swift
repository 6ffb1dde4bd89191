import MultipeerConnectivity

/// Ends the process while files and messages are in flight, on threads that are not stopped: without a crash.
struct SuddenExit {
    func run() throws -> Never {
        let file = FileManager.default.temporaryDirectory.appending(path: "reuse-exit")
        try Data(count: 8_000_000).write(to: file)
        let (one, other) = (Party("one"), Party("other"))
        try Party.connect(one, other)
        for _ in 0..<16 {
            one.session.sendResource(at: file, withName: "file", toPeer: other.me)
            other.session.sendResource(at: file, withName: "file", toPeer: one.me)
            try one.session.send(Data(count: 1_000_000), toPeers: [other.me], with: .reliable)
        }
        try other.awaitMessages(1)
        exit(0)
    }
}
