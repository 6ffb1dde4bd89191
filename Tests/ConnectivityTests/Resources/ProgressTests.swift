import Foundation
@preconcurrency import MultipeerConnectivity
import MultipeerTransport
import TestSupport
import Testing

@Suite("Facade: progress", .inTurns)
struct ProgressTests {
    @Test(
        "a resource's progress is part of the current one, and is complete when the receiver has everything")
    func parts() async throws {
        let exchange = try await ConnectedPair()
        let folder = Folder()
        let file = try folder.file([UInt8](repeating: 8, count: 4_000_000))
        let parent = Progress(totalUnitCount: 100)
        var outcomes: [Outcome] = []
        var parts: [Progress] = []
        for name in ["one", "two"] {
            let (progress, outcome) = exchange.send(file, name, as: 50, of: parent)
            outcomes.append(outcome)
            parts.append(try #require(progress))
        }
        let (one, two) = (parts[0], parts[1])
        async let first = fractions(of: one)
        async let second = fractions(of: two)
        async let whole = fractions(of: parent)
        async let received = fractions(of: exchange.bob.recorder.start("one"))
        for outcome in outcomes { #expect(try await outcome.value() == nil) }
        for seen in try await [first, second, whole, received] {
            #expect(seen == seen.sorted())
            #expect(seen.last == 1)
            #expect(seen.dropLast().allSatisfy { (0..<1).contains($0) })
        }
        #expect(parent.isFinished && parent.completedUnitCount == 100)
        exchange.end()
    }

    private func fractions(of progress: Progress) async throws -> [Double] {
        try await soon {
            var seen: [Double] = []
            for await fraction in progress.fractions { seen.append(fraction) }
            return seen
        }
    }

    @Test("progress is not complete before the receiver has confirmed")
    func unconfirmed() async throws {
        let exchange = try await ConnectedPair()
        let folder = Folder()
        let (gate, hasStarted) = (DispatchSemaphore(value: 0), Promise<Void>())
        exchange.bob.recorder.react { _, heard in
            guard heard.start("x") != nil else { return }
            hasStarted.send(())
            gate.wait()
        }
        let (progress, outcome) = exchange.send(try folder.file([UInt8](repeating: 1, count: 1_000)), "x")
        let sending = try #require(progress)
        try await soon { await hasStarted.value(onCancel: { hasStarted.send(()) }) }
        // Everything fits into the buffers, and the receiver has not requested it yet.
        #expect(sending.fractionCompleted < 1 && !sending.isFinished)
        gate.signal()
        #expect(try await outcome.value() == nil)
        #expect(sending.fractionCompleted == 1 && sending.isFinished)
        exchange.end()
    }

    @Test("progress has the properties that Foundation sets on Apple's platforms")
    func values() async throws {
        let exchange = try await ConnectedPair()
        let folder = Folder()
        let file = try folder.file([UInt8](repeating: 1, count: 100_000))
        let (progress, outcome) = exchange.send(file, "x")
        let sending = try #require(progress)
        #expect(sending.kind == .file && sending.fileOperationKind == .uploading)
        #expect(sending.isCancellable && !sending.isPausable)
        #expect(sending.fileURL == file && sending.fileTotalCount == 1)
        #expect(try await outcome.value() == nil)
        let receiving = try await exchange.bob.recorder.start("x")
        let url = try await exchange.bob.recorder.finish("x").url
        #expect(receiving.kind == .file && receiving.fileOperationKind == .receiving)
        #expect(receiving.fileURL == url)
        for progress in [sending, receiving] {
            #expect(progress.fileCompletedCount == 1 && progress.estimatedTimeRemaining == 0)
        }
        let any = Progress(totalUnitCount: 1)
        #expect(any.throughput == nil && any.fileURL == nil && any.estimatedTimeRemaining == nil)
        any.throughput = 5
        any.estimatedTimeRemaining = 1.5
        #expect(any.throughput == 5 && any.userInfo[.throughputKey] as? NSNumber == 5)
        #expect(any.estimatedTimeRemaining == 1.5)
        exchange.end()
    }

    @Test("the speed is known while a file is being sent")
    func speed() async throws {
        let exchange = try await ConnectedPair()
        let folder = Folder()
        let (progress, outcome) = exchange.send(try folder.endless(), "x")
        let sending = try #require(progress)
        try await soon {
            for await _ in sending.fractions where (sending.throughput ?? 0) > 0 {
                if sending.estimatedTimeRemaining != nil { return }
            }
        }
        #expect(sending.totalUnitCount == 1 << 30)
        sending.cancel()
        #expect(try await outcome.value()?.code == .cancelled)
        #expect(sending.throughput == nil && sending.estimatedTimeRemaining == nil)
        exchange.end()
    }

    @Test("fractions end on cancellation, of the transfer or of the task that reads them")
    func ends() async throws {
        let cancelled = Progress(totalUnitCount: 10)
        cancelled.completedUnitCount = 3
        cancelled.cancel()
        #expect(try await fractions(of: cancelled) == [0.3])
        let endless = Progress(totalUnitCount: 10)
        let watching = Task {
            var seen: [Double] = []
            for await fraction in endless.fractions { seen.append(fraction) }
            return seen
        }
        watching.cancel()
        #expect(await watching.value.count <= 1)
    }
}
