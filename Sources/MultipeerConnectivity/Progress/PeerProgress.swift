import Foundation
import MultipeerTransport

/// The progress of a resource as a Foundation progress.
///
/// The counts are bytes; an empty resource counts as one byte, so that there is something to complete. While the total is unknown
/// it is indeterminate. It is complete only when the receiver has all of it.
///
/// Foundation's own is not locked on Linux, and a parent is updated on its children's threads: this module makes all its changes
/// to any of them under one lock, and reads this one under it. The lock is recursive because a parent may be a subclass of the
/// app's.
///
/// Unchecked as its superclass is: what it adds is `Sendable`.
final class PeerProgress: Progress, @unchecked Sendable {
    private static let tree = NSRecursiveLock()

    private struct State {
        var isOver = false
        /// Cancelled before `onCancel` was set.
        var isCalledOff = false
        var callOff: (@Sendable () -> Void)?
        /// The number of changes.
        var version = 0
        var watchers: [Promise<Void>] = []
    }

    private let state = Locked(State())

    /// Creates a child of `parent`, which is the current progress of this thread or nil.
    init(_ operation: FileOperationKind, size: UInt64?, url: URL? = nil, in parent: Progress? = nil) {
        PeerProgress.tree.lock()
        defer { PeerProgress.tree.unlock() }
        super.init(
            parent: parent,
            userInfo: [
                .fileOperationKindKey: operation, .fileTotalCountKey: NSNumber(value: 1),
                .fileCompletedCountKey: NSNumber(value: 0),
            ])
        super.kind = .file
        super.isCancellable = true
        super.totalUnitCount = size.map(PeerProgress.units) ?? -1
        if let url { super.setUserInfoObject(url, forKey: .fileURLKey) }
    }

    private static func units(_ bytes: UInt64) -> Int64 { Int64(clamping: max(bytes, 1)) }

    /// Also called when a parent is cancelled, and during the initialiser, when its parent was already.
    override func cancel() {
        super.cancel()
        let callOff = state.withLock { state in
            state.isCalledOff = true
            return state.callOff
        }
        callOff?()
    }

    override var completedUnitCount: Int64 {
        get { PeerProgress.tree.withLock { super.completedUnitCount } }
        set { PeerProgress.tree.withLock { super.completedUnitCount = newValue } }
    }

    override var totalUnitCount: Int64 {
        get { PeerProgress.tree.withLock { super.totalUnitCount } }
        set { PeerProgress.tree.withLock { super.totalUnitCount = newValue } }
    }

    override var isIndeterminate: Bool { PeerProgress.tree.withLock { super.isIndeterminate } }

    override var isFinished: Bool { PeerProgress.tree.withLock { super.isFinished } }

    override var isCancelled: Bool {
        get { PeerProgress.tree.withLock { super.isCancelled } }
        set { PeerProgress.tree.withLock { super.isCancelled = newValue } }
    }

    override var userInfo: [ProgressUserInfoKey: Any] { PeerProgress.tree.withLock { super.userInfo } }

    override func setUserInfoObject(_ objectOrNil: Any?, forKey key: ProgressUserInfoKey) {
        PeerProgress.tree.withLock { super.setUserInfoObject(objectOrNil, forKey: key) }
    }
}

// MARK: updates by the transfer

extension PeerProgress {
    /// Sets the action of `cancel`; performs it at once if `cancel` was called before.
    func onCancel(_ callOff: @escaping @Sendable () -> Void) {
        let isLate = state.withLock { state in
            state.callOff = callOff
            return state.isCalledOff
        }
        if isLate { callOff() }
    }

    /// Updates the progress. One unit is held back until the receiver has all of it.
    func note(_ progress: TransferProgress) {
        update { [self] in
            if let total = progress.totalBytes, isIndeterminate { totalUnitCount = PeerProgress.units(total) }
            let done = min(Int64(clamping: progress.completedBytes), max(totalUnitCount - 1, 0))
            if !isIndeterminate, done > completedUnitCount { completedUnitCount = done }
            setUserInfoObject(
                NSNumber(value: Int(exactly: progress.bytesPerSecond.rounded()) ?? 0), forKey: .throughputKey)
            setUserInfoObject(
                progress.estimatedTimeRemaining.map { NSNumber(value: $0 / .seconds(1)) },
                forKey: .estimatedTimeRemainingKey)
        }
    }

    /// Completes the progress: the receiver has all of it.
    func complete(_ size: UInt64, at url: URL? = nil) {
        finish { [self] in
            if isIndeterminate { totalUnitCount = PeerProgress.units(size) }
            completedUnitCount = totalUnitCount
            setUserInfoObject(NSNumber(value: 1), forKey: .fileCompletedCountKey)
            setUserInfoObject(NSNumber(value: 0), forKey: .estimatedTimeRemainingKey)
            if let url { setUserInfoObject(url, forKey: .fileURLKey) }
        }
    }

    /// Ends the progress of a failed transfer, which keeps its value.
    func fail() {
        finish { [self] in
            setUserInfoObject(nil, forKey: .throughputKey)
            setUserInfoObject(nil, forKey: .estimatedTimeRemainingKey)
        }
    }

    private func finish(_ change: () -> Void) {
        update(change)
        state.withLock { state in
            state.isOver = true
            state.callOff = nil
        }
        wake()
    }

    private func update(_ change: () -> Void) {
        if isOver { return }
        PeerProgress.tree.lock()
        change()
        PeerProgress.tree.unlock()
        wake()
    }
}

// MARK: watching

extension PeerProgress {
    /// Whether nothing can change.
    var isOver: Bool { state.withLock { $0.isOver } }

    /// Waits until there is a change since that version, or nothing can change, or the task is cancelled. Returns the
    /// version at that time.
    func change(since version: Int) async -> Int {
        let signal = Promise<Void>()
        let waits = state.withLock { state in
            if state.isOver || state.version > version { return false }
            state.watchers.append(signal)
            return true
        }
        if waits { await signal.value(onCancel: { signal.send(()) }) }
        return state.withLock { state in
            state.watchers.removeAll { $0 === signal }
            return state.version
        }
    }

    private func wake() {
        let watchers = state.withLock { state in
            state.version += 1
            defer { state.watchers = [] }
            return state.watchers
        }
        for watcher in watchers { watcher.send(()) }
    }
}
