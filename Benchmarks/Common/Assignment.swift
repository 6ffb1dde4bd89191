/// The task of this process: `MultipeerBench server|client MODE SIZE COUNT`.
package struct Assignment: Sendable {
    package enum Side: String, Sendable { case server, client }

    package enum Mode: String, Sendable, CaseIterable {
        /// Messages one way, several passed at once where they are small.
        case bulk, pipelined
        /// Messages one way, one `await` each.
        case awaited
        case pingpong
        /// Ping-pong from an ordinary task, on the global executor.
        case pingapart
        case connect
        /// Messages to seven others at once.
        case fanout
        /// Unreliable messages one way.
        case datagrams
        /// Bytes one way through one stream, or through eight at once.
        case stream, streams
        /// Files one after the other, with their digest or without, and up to 16 at once.
        case file, undigested, files
        /// Ping-pong while an endless file is sent the same way.
        case laden
        /// Calls of an actor one after the other: on the sessions' own threads, and on the default ones.
        case calls, callsapart
        /// Calls of an actor, many at once.
        case callsatonce
        /// Apple's API: messages one way, ping-pong, a stream, a resource.
        case facademessages, facadepingpong, facadestream, facaderesource
        /// Eight processes until each is linked with all others.
        case mesh
        /// Linked, and nothing else: two processes, or eight, for SIZE seconds.
        case idle, meshidle
        /// COUNT linked sessions of one process.
        case memory
        /// COUNT sessions made by one process, alone.
        case session
        /// A process without a session, alone, for SIZE seconds.
        case nothing
    }

    package let side: Side
    package let mode: Mode
    package let size: Int
    package let count: Int

    /// The number of other processes that the client talks to.
    package var others: Int { [.fanout, .mesh, .meshidle].contains(mode) ? 7 : 1 }

    package init?(_ arguments: [String]) {
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
