import MultipeerCommandLine
import MultipeerEssentials

/// What a receiver has said about bundles and about files that it has, at the sender. Only what was asked for is kept.
final class BundleAnswers: Sendable {
    private enum Key: Hashable, Sendable {
        case answer(Int)
        case result(Int)
        case compared(Int)
    }

    private struct State: Sendable {
        var expected: [Key: Promise<[BundleVerdict]?>] = [:]
        var isOver = false
    }

    private let state = Locked(State())
    private let said = Promise<BundleMessage.Policy?>()
    private let comparesFiles = Promise<Bool?>()
    /// A receiver that takes bundles says so at once; another one delays the first file by this.
    private static let policyTime = Duration.seconds(3)
    /// A receiver that does not answer gets the files.
    private static let answerTime = Duration.seconds(10)
    /// A result leaves before the confirmation of its bundle, and may arrive after that.
    private static let resultTime = Duration.seconds(5)
    /// A receiver reads at least this much of its files in a second, in bytes.
    private static let slowestReading: UInt64 = 1 << 22

    func add(_ message: BundleMessage) {
        switch message {
        case .policy(let policy): said.send(policy)
        case .answer(let number, let verdicts): settle(.answer(number), verdicts)
        case .result(let number, let verdicts): settle(.result(number), verdicts)
        case .compares: comparesFiles.send(true)
        case .compared(let number, let verdicts): settle(.compared(number), verdicts)
        case .question, .comparison: break
        }
    }

    /// Nothing more will come.
    func end() {
        let expected = state.withLock { state in
            state.isOver = true
            return Array(state.expected.values)
        }
        for promise in expected { promise.send(nil) }
        said.send(nil)
        comparesFiles.send(nil)
    }

    /// Waits until the receiver says that it compares files; returns false if it does not.
    func compares() async -> Bool {
        await BundleAnswers.value(of: comparesFiles, within: BundleAnswers.policyTime) ?? false
    }

    /// Asks which of these files the receiver has; returns nil if there is no answer about each of them in time.
    func compare(_ files: [FileDigest], _ peer: PeerID, _ session: Session) async -> [BundleVerdict]? {
        guard let first = files.first else { return nil }
        let promise = expect(.compared(first.number))
        defer { state.withLock { $0.expected[.compared(first.number)] = nil } }
        do throws(MultipeerError) {
            try await session.send(BundleMessage.comparison(first.number, files).message, to: peer)
        } catch {
            return nil
        }
        let bytes = files.reduce(0) { $0 &+ $1.size }
        let time = BundleAnswers.answerTime + .seconds(bytes / BundleAnswers.slowestReading)
        let verdicts = await BundleAnswers.value(of: promise, within: time)
        return verdicts?.count == files.count ? verdicts : nil
    }

    /// Waits until the receiver says whether it takes bundles.
    func policy() async -> BundleMessage.Policy {
        await BundleAnswers.value(of: said, within: BundleAnswers.policyTime) ?? .none
    }

    /// Asks which files of a bundle are wanted; returns nil if there is no answer about each of them in time.
    func ask(
        _ position: BundlePosition, list: [UInt8], _ count: Int, _ peer: PeerID, _ session: Session
    ) async -> [BundleVerdict]? {
        let promise = expect(.answer(position.number))
        defer { state.withLock { $0.expected[.answer(position.number)] = nil } }
        do throws(MultipeerError) {
            try await session.send(BundleMessage.question(position, list: list).message, to: peer)
        } catch {
            return nil
        }
        let verdicts = await BundleAnswers.value(of: promise, within: BundleAnswers.answerTime)
        return verdicts?.count == count ? verdicts : nil
    }

    /// To be called before a bundle is sent.
    func expectResult(_ number: Int) { _ = expect(.result(number)) }

    /// Returns what became of each file of a bundle that was confirmed; nil if the receiver does not say.
    func result(_ number: Int, _ count: Int) async -> [BundleVerdict]? {
        guard let promise = state.withLock({ $0.expected[.result(number)] }) else { return nil }
        let verdicts = await BundleAnswers.value(of: promise, within: BundleAnswers.resultTime)
        return verdicts?.count == count ? verdicts : nil
    }

    func forgetResult(_ number: Int) { state.withLock { $0.expected[.result(number)] = nil } }

    private func expect(_ key: Key) -> Promise<[BundleVerdict]?> {
        let promise = Promise<[BundleVerdict]?>()
        let isOver = state.withLock { state in
            state.expected[key] = promise
            return state.isOver
        }
        if isOver { promise.send(nil) }
        return promise
    }

    private func settle(_ key: Key, _ verdicts: [BundleVerdict]) {
        state.withLock { $0.expected[key] }?.send(verdicts)
    }

    private static func value<Value: Sendable>(
        of promise: Promise<Value?>, within time: Duration
    ) async -> Value? {
        if let value = promise.sentValue { return value }
        let clock = Task {
            try await Task.sleep(for: time)
            promise.send(nil)
        }
        defer { clock.cancel() }
        return await promise.value()
    }
}
