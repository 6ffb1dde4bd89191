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

    static func + (one: Load, other: Load) -> Load {
        Load(calls: one.calls + other.calls, bytes: one.bytes + other.bytes)
    }
}

/// A call of a peer. Its number is told apart from the same one of another system of that peer, and over another link.
package struct IncomingCall: Hashable, Sendable {
    package let peer: PeerID
    package let number: CallNumber
    let generation: UInt64
}

/// Calls of peers whose system or link is gone, and that still run: told to stop, but nobody can make them. They count
/// with the calls of their peer when that is back, so that coming back is not a way to have more of them.
struct Leftovers: Sendable {
    private var sizes: [IncomingCall: Int] = [:]
    private var loads: [UID: Load] = [:]
    private(set) var all = Load()

    subscript(uid: UID) -> Load { loads.isEmpty ? Load() : loads[uid] ?? Load() }

    mutating func add(_ call: IncomingCall, _ size: Int) {
        sizes[call] = size
        loads[call.peer.uid, default: Load()].add(size)
        all.add(size)
    }

    /// The call has ended now.
    mutating func remove(_ call: IncomingCall) {
        guard let size = sizes.removeValue(forKey: call) else { return }
        all.remove(size)
        loads[call.peer.uid]?.remove(size)
        if loads[call.peer.uid]?.calls == 0 { loads[call.peer.uid] = nil }
    }
}
