/// The task of this process: `MultipeerBench server|client MODE SIZE COUNT`.
struct Assignment: Sendable {
    enum Side: String, Sendable { case server, client }

    enum Mode: String, Sendable {
        /// Messages one way, several passed at once where they are small.
        case bulk, pipelined
        /// Messages one way, one `await` each.
        case awaited
        case pingpong
        case connect
        /// Messages to seven others at once.
        case fanout
        /// Unreliable messages one way.
        case datagrams
        /// One file, with its digest or without.
        case file, undigested
        /// Ping-pong while an endless file is sent the same way.
        case laden
        /// Calls of an actor one after the other: on the sessions' own threads, and on the default ones.
        case calls, callsapart
        /// Calls of an actor, many at once.
        case callsatonce
    }

    let side: Side
    let mode: Mode
    let size: Int
    let count: Int

    /// The number of other processes.
    var others: Int { side == .client && mode == .fanout ? 7 : 1 }

    init?(_ arguments: [String]) {
        guard arguments.count == 5, let side = Side(rawValue: arguments[1]),
            let mode = Mode(rawValue: arguments[2]),
            let size = Int(arguments[3]), size > 0,
            let count = Int(arguments[4]), count > 0
        else { return nil }
        self.side = side
        self.mode = mode
        self.size = size
        self.count = count
    }
}
