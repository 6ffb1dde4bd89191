package import MultipeerCore

/// How much is in hand.
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

    /// Whether one more call of that size has room where so much may be. One alone always has.
    func takes(_ size: Int, calls most: Int, bytes mostBytes: Int) -> Bool {
        calls == 0 || calls < most && bytes + size <= mostBytes
    }

    static func + (one: Load, other: Load) -> Load {
        Load(calls: one.calls + other.calls, bytes: one.bytes + other.bytes)
    }
}

/// What peers have in hand here. Calls that are made for others have an allowance beside the common one, and take nothing
/// of it from those that are made for none.
struct IncomingLoad: Equatable, Sendable {
    private(set) var all = Load()
    /// Of those that are made for no other.
    private(set) var outer = Load()

    mutating func add(_ size: Int, isInner: Bool) {
        all.add(size)
        if !isInner { outer.add(size) }
    }

    mutating func remove(_ size: Int, isInner: Bool) {
        all.remove(size)
        if !isInner { outer.remove(size) }
    }

    /// A call there is has so many bytes more, or less.
    mutating func grow(by size: Int, isInner: Bool) {
        all.bytes += size
        if !isInner { outer.bytes += size }
    }

    static func + (one: IncomingLoad, other: IncomingLoad) -> IncomingLoad {
        IncomingLoad(all: one.all + other.all, outer: one.outer + other.outer)
    }
}

/// A call of a peer. Its number is told apart from the same one of another system of that peer, and over another link.
package struct IncomingCall: Hashable, Sendable {
    package let peer: PeerID
    package let number: CallNumber
    let generation: UInt64
    /// It is made for another call.
    package let isInner: Bool
}

/// Calls of peers whose system or link is gone, and that still run: told to stop, but nobody can make them. They count
/// with the calls of their peer when that is back, so that coming back is not a way to have more of them.
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

    /// The call has ended now.
    mutating func remove(_ call: IncomingCall) {
        guard let size = sizes.removeValue(forKey: call) else { return }
        load.remove(size, isInner: call.isInner)
        loads[call.peer.uid]?.remove(size, isInner: call.isInner)
        if loads[call.peer.uid]?.all.calls == 0 { loads[call.peer.uid] = nil }
    }
}
