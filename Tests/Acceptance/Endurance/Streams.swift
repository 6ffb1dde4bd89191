import Multipeer
import MultipeerFigures

/// Very many streams between two sessions: each delivers everything that was written, and then ends.
struct Streams {
    private let count: Int
    private let areTogether: Bool
    private static let warmUp = 100
    private static let allowedGrowth = 8

    init(_ count: Int, areTogether: Bool) {
        self.count = count
        self.areTogether = areTogether
    }

    func run() async throws {
        let couple = try await Couple.linked()
        // Resources for that many at once are allocated once.
        let warmUp = areTogether ? count : Streams.warmUp
        try await exchange(0..<warmUp, couple)
        let before = try Figures()
        let start = ContinuousClock.now
        try await exchange(warmUp..<warmUp + count, couple)
        let time = start.duration(to: .now).seconds
        let after = try Figures()
        await couple.leave()
        print(
            "\(count) streams \(areTogether ? "at once" : "in turn") in \(Int(time * 1_000)) ms; \(before) before, "
                + "\(after) after")
        try Endurance.expect(after.descriptors <= before.descriptors, "descriptors leaked")
        try Endurance.expect(
            after.memory <= before.memory + Streams.allowedGrowth, "memory leaked")
    }

    private func exchange(_ numbers: Range<Int>, _ couple: Couple) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await receive(numbers, couple.other) }
            if areTogether {
                for number in numbers { group.addTask { try await send(number, couple) } }
            } else {
                group.addTask { for number in numbers { try await send(number, couple) } }
            }
            try await group.waitForAll()
        }
    }

    /// Sends in pieces, so that all open streams are in the middle of something.
    private func send(_ number: Int, _ couple: Couple) async throws {
        let stream = try await couple.one.openStream(
            to: couple.other.peer, name: "\(number)", metadata: [UInt8(truncatingIfNeeded: number)])
        var rest = Streams.content(number)[...]
        while !rest.isEmpty {
            try await stream.write(Array(rest.prefix(1_000)))
            rest = rest.dropFirst(1_000)
            if areTogether { await Task.yield() }
        }
        try await stream.finish()
    }

    private func receive(_ numbers: Range<Int>, _ session: Session) async throws {
        var missing = Set(numbers)
        let ended = Ended()
        // Nothing of a finished task is kept: it would count as memory.
        try await withThrowingDiscardingTaskGroup { group in
            for await event in session.events {
                guard case .stream(let stream) = event else {
                    throw Endurance.Failure(description: "unexpected event: \(event)")
                }
                group.addTask { try await ended.add(Streams.read(stream)) }
                missing.remove(Int(stream.name) ?? -1)
                if missing.isEmpty { break }
            }
            try Endurance.expect(missing.isEmpty, "\(missing.count) streams did not arrive")
        }
        let count = await ended.numbers.count
        try Endurance.expect(count == numbers.count, "\(count) of \(numbers.count) streams ended")
    }

    private actor Ended {
        private(set) var numbers: Set<Int> = []

        func add(_ number: Int) throws {
            try Endurance.expect(numbers.insert(number).inserted, "stream \(number) arrived twice")
        }
    }

    /// Reads a stream to its end; returns its number.
    private static func read(_ stream: IncomingStream) async throws -> Int {
        guard let number = Int(stream.name) else {
            throw Endurance.Failure(description: "a stream has the wrong name: \(stream.name)")
        }
        var bytes: [UInt8] = []
        for try await piece in stream { bytes += piece }
        try Endurance.expect(
            bytes == Streams.content(number), "stream \(number) delivered \(bytes.count) wrong bytes")
        try Endurance.expect(
            stream.metadata == [UInt8(truncatingIfNeeded: number)], "stream \(number) has the wrong metadata")
        return number
    }

    /// Returns 0 to some 5,000 bytes.
    private static func content(_ number: Int) -> [UInt8] {
        (0..<number * 37 % 5_003).map { UInt8(truncatingIfNeeded: number &* 31 &+ $0 &* 7) }
    }
}
