import MultipeerConnectivity
import MultipeerFigures

/// The same two `MCSession` objects connect, send and disconnect many times over, half of the times with a stream and a
/// file in flight: no thread, descriptor, file or memory may leak.
struct Cycles {
    private static let warmUp = 20
    private static let allowedGrowth = 4
    private let count: Int

    init(_ count: Int) { self.count = count }

    func run() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "reuse-\(UUID().uuidString)")
        try Data(count: 100_000).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let (one, other) = (Party("one"), Party("other"))
        for number in 0..<Cycles.warmUp { try cycle(number, one, other, file) }
        let before = try Figures()
        for number in 0..<count { try cycle(Cycles.warmUp + number, one, other, file) }
        var after = try Figures()
        // What was cancelled will be closed by another thread in a moment.
        let deadline = Date(timeIntervalSinceNow: 5)
        while after.descriptors > before.descriptors, deadline > Date() {
            Thread.sleep(forTimeInterval: 0.01)
            after = try Figures()
        }
        print("\(count) cycles: \(before) before, \(after) after")
        // The pools of the runtime and of Dispatch may still have been growing to one thread for each core.
        try MultipeerReuse.expect(after.threads <= before.threads + 4, "threads leaked")
        try MultipeerReuse.expect(after.descriptors <= before.descriptors, "descriptors leaked")
        try MultipeerReuse.expect(
            after.memory <= before.memory + Cycles.allowedGrowth, "memory leaked")
    }

    private func cycle(_ number: Int, _ one: Party, _ other: Party, _ file: URL) throws {
        try Party.connect(one, other)
        for (from, to) in [(one, other), (other, one)] {
            try from.session.send(Data("hello".utf8), toPeers: [to.me], with: .reliable)
            try to.awaitMessages(number + 1)
        }
        if number % 2 == 0 {
            let stream = try one.session.startStream(withName: "notes", toPeer: other.me)
            stream.open()
            try other.awaitStream()
            one.session.sendResource(at: file, withName: "file", toPeer: other.me)
        }
        let (leaver, left) = number % 4 < 2 ? (one, other) : (other, one)
        leaver.session.disconnect()
        try left.awaitEnd(of: leaver.me)
        try leaver.awaitEnd(of: left.me)
        left.session.disconnect()
        other.dropStreams()
    }
}

/// A delegate that does not return: it stops its peer's sending at a limit, and so bounds memory.
struct StoppedReader {
    /// 64 MiB, what is accepted before them, and what the reader has been granted; and temporary copies.
    private static let allowedGrowth = 160

    func run() throws {
        let (one, other) = (Party("one"), Party("other"))
        try Party.connect(one, other)
        let gate = DispatchSemaphore(value: 0)
        other.block(at: gate)
        let before = try Figures()
        let message = Data(repeating: 7, count: 65_536)
        var count = 0
        var isRefused = false
        while !isRefused, count < 10_000 {
            do {
                try one.session.send(message, toPeers: [other.me], with: .reliable)
                count += 1
            } catch MCError.unavailable {
                isRefused = true
            }
        }
        let after = try Figures()
        try MultipeerReuse.expect(isRefused, "\(count) messages were accepted")
        gate.signal()
        try other.awaitMessages(count)
        print(
            "\(count) messages of 64 KiB accepted, then refused, then read: \(before) before, \(after) at the limit"
        )
        try MultipeerReuse.expect(
            after.memory <= before.memory + StoppedReader.allowedGrowth, "memory is not bounded")
    }
}
