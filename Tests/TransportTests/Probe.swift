import Glibc
import MultipeerTransport

/// An actor on a loop that writes down what the loop calls it with, and lets a test wait for it.
actor Probe: LoopClient {
    enum Call: Hashable, Sendable {
        case ready(Int, Readiness)
        case deadline
        case wokenUp
        case turnEnded
    }

    nonisolated let loop: EventLoop
    nonisolated let wakeup = Wakeup()
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    private(set) var calls: [Call] = []
    private var awaited: (call: Call, signal: Promise<Void>)?
    private var onReady: (@Sendable (isolated Probe, Int, Readiness) -> Void)?

    private let takesMessages: Bool

    init(_ loop: EventLoop, takesMessages: Bool = false) {
        self.loop = loop
        self.takesMessages = takesMessages
    }

    nonisolated func ready(_ token: Int, _ readiness: Readiness) {
        assumeIsolated {
            $0.onReady?($0, token, readiness)
            $0.note(.ready(token, readiness))
        }
    }

    nonisolated func deadlineReached() { assumeIsolated { $0.note(.deadline) } }
    nonisolated func wokenUp() {
        if takesMessages { loop.tookMessages(self) }
        assumeIsolated { $0.note(.wokenUp) }
    }
    nonisolated func turnEnded() { assumeIsolated { $0.note(.turnEnded) } }

    func whenReady(_ body: (@Sendable (isolated Probe, Int, Readiness) -> Void)?) { onReady = body }

    func run<Result: Sendable, Failure: Error>(
        _ body: @Sendable (isolated Probe) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(self)
    }

    /// Waits until the loop finds the descriptor ready.
    func wait(_ descriptor: Int32, for interest: Readiness) async throws -> Readiness {
        let signal = Promise<Readiness>()
        onReady = { probe, _, readiness in
            probe.loop.deregister(descriptor)
            signal.send(readiness)
        }
        try loop.register(descriptor, for: self, token: 0, interest: interest)
        return await signal.value()
    }

    var turnsEndedSoFar: Int { calls.count { $0 == .turnEnded } }

    /// For jobs on the loop.
    nonisolated var turnsEnded: Int { assumeIsolated { $0.calls.count { $0 == .turnEnded } } }

    func forget() { calls = [] }

    /// Waits until the loop has made this call; one that was made already counts.
    func heard(_ call: Call) async {
        if calls.contains(call) { return }
        let signal = Promise<Void>()
        awaited = (call, signal)
        await signal.value()
    }

    private func note(_ call: Call) {
        calls.append(call)
        if let awaited, awaited.call == call {
            self.awaited = nil
            awaited.signal.send(())
        }
    }
}

/// Makes a loop for one test, and ends it.
func withLoop<Result>(_ body: (EventLoop) async throws -> Result) async throws -> Result {
    let loop = try EventLoop()
    defer { loop.shutdown() }
    return try await body(loop)
}

/// A pipe whose ends close with it.
final class Pipe: Sendable {
    let reader: Int32
    let writer: Int32

    init() {
        var ends: (Int32, Int32) = (-1, -1)
        _ = unsafe withUnsafeMutableBytes(of: &ends) {
            unsafe pipe($0.assumingMemoryBound(to: Int32.self).baseAddress)
        }
        (reader, writer) = ends
    }

    deinit {
        close(reader)
        close(writer)
    }

    func put() {
        var byte: UInt8 = 1
        _ = unsafe write(writer, &byte, 1)
    }

    /// Closes the writing end, by making its number one more reader.
    func hangUp() { dup2(reader, writer) }
}
