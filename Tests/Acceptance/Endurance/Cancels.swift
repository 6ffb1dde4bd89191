import Foundation
import Multipeer
import MultipeerFigures

/// Files that are cancelled at random moments, from either side in turn: how soon the other side knows, and what is left.
struct Cancels {
    private enum Ending: Equatable, Sendable {
        case complete
        case failed(MultipeerError.Code)
    }

    private struct Outcome: Sendable {
        let ending: Ending
        let time: ContinuousClock.Instant
    }

    private static let size = 48 << 20
    private static let warmUp = 10
    private static let wholeFiles = 6
    private static let allowedGrowth = 16

    /// The time within which the other side must be notified in nine of ten cases; and in all, on a busy machine.
    private static let usual = Duration.milliseconds(200)
    private static let most = Duration.seconds(2)

    private let count: Int

    init(_ count: Int) { self.count = count }

    func run() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "endurance-\(UUID().uuidString)")
        let inbox = folder.appending(path: "inbox")
        try FileManager.default.createDirectory(at: inbox, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "file")
        try Data(count: Cancels.size).write(to: file)
        let couple = try await Couple.linked()
        let longest = try await Cancels.fastest(file, inbox, couple)
        for number in 0..<Cancels.warmUp { _ = try await cancel(number, file, inbox, couple, longest) }
        let before = try Figures()
        var times: [Duration] = []
        for number in 0..<count {
            if let time = try await cancel(number, file, inbox, couple, longest) { times.append(time) }
        }
        var after = try Figures()
        // What was just cancelled will be closed by another thread in a moment.
        let deadline = ContinuousClock.now + .seconds(5)
        while after.descriptors > before.descriptors, .now < deadline {
            try await Task.sleep(for: .milliseconds(10))
            after = try Figures()
        }
        await couple.leave()
        let left = try FileManager.default.contentsOfDirectory(atPath: inbox.path)
        let told = Distribution(times)
        print(
            "\(count) files, \(times.count) cancelled in time; the other side was notified after \(told); "
                + "\(before) before, \(after) after")
        try Endurance.expect(left.isEmpty, "files leaked: \(left)")
        try Endurance.expect(times.count > count / 2, "only \(times.count) were cancelled in time")
        try Endurance.expect(
            told.quantile(0.9) <= Cancels.usual && told.quantile(1) <= Cancels.most,
            "the other side was notified too late")
        try Endurance.expect(after.descriptors <= before.descriptors, "descriptors leaked")
        try Endurance.expect(after.threads <= before.threads + 2, "threads leaked")
        try Endurance.expect(after.memory <= before.memory + Cancels.allowedGrowth, "memory leaked")
    }

    /// Returns what the fastest of some whole files takes on this machine: a later moment may be too late to cancel one.
    private static func fastest(_ file: URL, _ inbox: URL, _ couple: Couple) async throws -> Duration {
        var fastest: Duration?
        for number in 0..<wholeFiles {
            let start = ContinuousClock.now
            let outgoing = try await couple.one.send(
                file: file, to: couple.other.peer, name: "whole \(number)", digest: number % 2 == 0)
            let received = try await next(couple.other).receive(into: inbox)
            try await outgoing.waitUntilReceived()
            let time = ContinuousClock.now - start
            try FileManager.default.removeItem(at: received.url)
            fastest = min(fastest ?? time, time)
        }
        guard let fastest else { throw Endurance.Failure(description: "no whole file was sent") }
        return fastest
    }

    /// Cancels a file at a random moment before `longest`. Returns how long the other side did not know; nil when the file was
    /// complete before.
    private func cancel(
        _ number: Int, _ file: URL, _ inbox: URL, _ couple: Couple, _ longest: Duration
    ) async throws -> Duration? {
        let outgoing = try await couple.one.send(
            file: file, to: couple.other.peer, name: "\(number)", digest: number % 4 < 2)
        let incoming = try await Cancels.next(couple.other)
        let endings = Endings()
        let sender = Task { await endings.add(0, Cancels.outcome { try await outgoing.waitUntilReceived() }) }
        let receiver = Task {
            await endings.add(
                1,
                Cancels.outcome {
                    let received = try await incoming.receive(into: inbox)
                    try FileManager.default.removeItem(at: received.url)
                })
        }
        try await Task.sleep(for: longest * Double.random(in: 0..<1))
        let isSender = number % 2 == 0
        let start = ContinuousClock.now
        if isSender { outgoing.cancel() } else { incoming.cancel() }
        await sender.value
        await receiver.value
        let (own, others) = try await endings.both(isSender)
        if own.ending == .complete, others.ending == .complete { return nil }
        // Cancelled at the last moment: the file was already complete at the other side.
        if others.ending == .complete { return nil }
        try Endurance.expect(
            own.ending == .failed(.cancelled) && others.ending == .failed(.cancelled),
            "the two sides ended as \(own.ending) and \(others.ending)")
        return start.duration(to: others.time)
    }

    private static func outcome(_ body: @Sendable () async throws -> Void) async -> Outcome {
        let ending: Ending
        do {
            try await body()
            ending = .complete
        } catch let error as MultipeerError {
            ending = .failed(error.code)
        } catch {
            ending = .failed(.system)
        }
        return Outcome(ending: ending, time: .now)
    }

    private static func next(_ session: Session) async throws -> IncomingResource {
        for await event in session.events {
            if case .resource(let resource) = event { return resource }
        }
        throw Endurance.Failure(description: "the events ended")
    }

    /// The endings that each side was notified of, one for each file.
    private actor Endings {
        private var all: [[Outcome]] = [[], []]

        func add(_ side: Int, _ outcome: Outcome) { all[side].append(outcome) }

        func both(_ isSender: Bool) throws -> (own: Outcome, others: Outcome) {
            guard all[0].count == 1, all[1].count == 1 else {
                throw Endurance.Failure(description: "the sides were notified \(all.map(\.count)) times")
            }
            return isSender ? (all[0][0], all[1][0]) : (all[1][0], all[0][0])
        }
    }
}
