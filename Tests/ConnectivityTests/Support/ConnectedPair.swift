import Dispatch
import Foundation
import Glibc
@preconcurrency import MultipeerConnectivity
import MultipeerTransport
import TestSupport
import Testing

/// Two connected members on loopback: ann sends and bob receives.
struct ConnectedPair {
    let ann: Member
    let bob: Member

    init() async throws { (ann, bob) = try await Member.pair() }

    func startStream(_ name: String = "stream") throws -> OutputStream {
        try ann.session.startStream(withName: name, toPeer: bob.peer)
    }

    /// Opens a stream from ann to bob.
    func stream(_ name: String = "stream") async throws -> (OutputStream, InputStream) {
        let output = try startStream(name)
        return (output, try await bob.recorder.stream(name))
    }

    /// Sends a file from ann to bob; the second value tells how it ended, once.
    func send(_ url: URL, _ name: String) -> (Progress?, Outcome) {
        let outcome = Outcome()
        let progress = ann.session.sendResource(at: url, withName: name, toPeer: bob.peer) { error in
            outcome.settle(error)
        }
        return (progress, outcome)
    }

    /// The same, as a part of another progress.
    func send(_ url: URL, _ name: String, as units: Int64, of parent: Progress) -> (Progress?, Outcome) {
        parent.becomeCurrent(withPendingUnitCount: units)
        defer { parent.resignCurrent() }
        return send(url, name)
    }

    /// Sends a message and waits for one back: what was sent before has then arrived.
    func talk(_ text: String) async throws {
        let message = Data(text.utf8)
        let (anns, bobs) = (ann.peer, bob.peer)
        try ann.session.send(message, toPeers: [bobs], with: .reliable)
        try await bob.recorder.log.until { $0.contains { $0.data(of: anns) == message } }
        try bob.session.send(message, toPeers: [anns], with: .reliable)
        try await ann.recorder.log.until { $0.contains { $0.data(of: bobs) == message } }
    }

    func end() {
        ann.session.disconnect()
        bob.session.disconnect()
    }
}

extension Recorder {
    func stream(_ name: String) async throws -> InputStream {
        let heard = try await log.until { $0.contains { $0.stream(name) != nil } }
        return try #require(heard.lazy.compactMap { $0.stream(name) }.first)
    }

    /// Waits for the start of a resource, and returns its progress.
    func start(_ name: String) async throws -> Progress {
        let heard = try await log.until { $0.contains { $0.start(name) != nil } }
        return try #require(heard.lazy.compactMap { $0.start(name) }.first)
    }

    /// Waits for the end of a resource, and returns it; fails the test when there was more than one.
    func finish(_ name: String) async throws -> (url: URL?, error: MCError?) {
        let heard = try await log.until { $0.contains { $0.finish(name) != nil } }
        let ends = heard.compactMap { $0.finish(name) }
        #expect(ends.count == 1)
        return try #require(ends.first)
    }

    /// Runs `body` with a resource inside the delegate call that delivers it.
    func onFinish(_ body: @escaping @Sendable (URL?, MCError?) -> Void) {
        react { _, heard in if case .finished(_, _, let url, let error) = heard { body(url, error) } }
    }
}

extension DelegateEvent {
    var isStream: Bool { if case .stream = self { true } else { false } }

    func stream(_ name: String) -> InputStream? {
        if case .stream(let stream, name, _) = self { stream } else { nil }
    }

    func start(_ name: String) -> Progress? {
        if case .started(name, _, let progress) = self { progress } else { nil }
    }

    func finish(_ name: String) -> (url: URL?, error: MCError?)? {
        if case .finished(name, _, let url, let error) = self { (url, error) } else { nil }
    }
}

/// Returns the code of the error that the body throws; nil when it throws none.
func code<Result>(of body: () throws -> Result) -> MCError.Code? {
    do {
        _ = try body()
        return nil
    } catch {
        if !(error is MCError) { Issue.record("no MCError: \(error)") }
        return (error as? MCError)?.code
    }
}

/// How a transfer ended, as its handler received it.
final class Outcome: Sendable {
    private let calls = Locked<[MCError?]>([])
    private let first = Promise<Void>()

    func settle(_ error: (any Error)?) {
        if let error, !(error is MCError) { Issue.record("no MCError: \(error)") }
        calls.withLock { $0.append(error as? MCError) }
        first.send(())
    }

    /// Returns the error, nil on success; fails the test when the handler was called before.
    func value() async throws -> MCError? {
        try await soon { [self] in await first.value(onCancel: { first.send(()) }) }
        let calls = calls.withLock { $0 }
        #expect(calls.count == 1)
        return calls.first ?? MCError(.unknown)
    }
}

/// The timeout of a wait in a test.
struct TooLate: Error {}

/// Waits at most half a minute: a busy machine may be slow.
func soon<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
    try await withThrowingTaskGroup(of: Value.self) { group in
        group.addTask { try await body() }
        group.addTask {
            try await Task.sleep(for: .seconds(30))
            throw TooLate()
        }
        defer { group.cancelAll() }
        guard let first = try await group.next() else { throw TooLate() }
        return first
    }
}

/// A value that one thread uses after the other.
///
/// Unchecked: streams are not `Sendable`, and those of a session may be used on any thread.
struct UncheckedSendable<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}
