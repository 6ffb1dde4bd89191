package import MultipeerCore

/// The number of calls in progress, and their bytes.
struct Load: Equatable, Sendable {
    var calls = 0
    var bytes = 0

    mutating func add(_ size: Int) {
        calls += 1
        bytes += size
    }

    mutating func remove(_ size: Int) {
        calls -= 1
        bytes -= size
    }

    /// Returns whether one more call of that size fits into these limits. A single call always does.
    func takes(_ size: Int, calls most: Int, bytes mostBytes: Int) -> Bool {
        calls == 0 || calls < most && bytes + size <= mostBytes
    }

    static func + (one: Load, other: Load) -> Load {
        Load(calls: one.calls + other.calls, bytes: one.bytes + other.bytes)
    }
}

/// The load of peers' calls here. Nested calls have quotas in addition to the common one, and take nothing of the quota of
/// the others.
struct IncomingLoad: Equatable, Sendable {
    private(set) var all = Load()
    /// The part that is not nested.
    private(set) var outer = Load()

    mutating func add(_ size: Int, isInner: Bool) {
        all.add(size)
        if !isInner { outer.add(size) }
    }

    mutating func remove(_ size: Int, isInner: Bool) {
        all.remove(size)
        if !isInner { outer.remove(size) }
    }

    /// Adds `size` bytes to a call in progress, or subtracts them if it is negative.
    mutating func grow(by size: Int, isInner: Bool) {
        all.bytes += size
        if !isInner { outer.bytes += size }
    }

    static func + (one: IncomingLoad, other: IncomingLoad) -> IncomingLoad {
        IncomingLoad(all: one.all + other.all, outer: one.outer + other.outer)
    }
}

/// A call of a peer. It is distinct from a call with the same number of another system of that peer, or over another
/// link.
package struct IncomingCall: Hashable, Sendable {
    package let peer: PeerID
    package let number: CallNumber
    let generation: UInt64
    /// Whether it is made within another call.
    package let isInner: Bool
}

/// Calls of peers whose system or link is gone, and that still run: they were cancelled, but cannot be forced to end.
/// They count with the calls of their peer when it returns, so that reconnecting does not increase its quota.
struct OrphanedCalls: Sendable {
    private var sizes: [IncomingCall: Int] = [:]
    private var loads: [UID: IncomingLoad] = [:]
    private(set) var load = IncomingLoad()

    subscript(uid: UID) -> IncomingLoad { loads.isEmpty ? IncomingLoad() : loads[uid] ?? IncomingLoad() }

    mutating func add(_ call: IncomingCall, _ size: Int) {
        sizes[call] = size
        loads[call.peer.uid, default: IncomingLoad()].add(size, isInner: call.isInner)
        load.add(size, isInner: call.isInner)
    }

    /// Removes a call that has ended.
    mutating func remove(_ call: IncomingCall) {
        guard let size = sizes.removeValue(forKey: call) else { return }
        load.remove(size, isInner: call.isInner)
        loads[call.peer.uid]?.remove(size, isInner: call.isInner)
        if loads[call.peer.uid]?.all.calls == 0 { loads[call.peer.uid] = nil }
    }
}
