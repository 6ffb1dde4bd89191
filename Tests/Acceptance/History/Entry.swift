/// One line of a history: what one member saw or did at one moment, or a fault that was injected into one.
///
/// A line is one JSON object. Which fields there are depends on the event; those that are not named there are absent.
package struct Entry: Codable, Equatable, Sendable {
    package enum Event: String, Codable, Sendable, CaseIterable {
        /// A process or session begins: `name`, `cap`, `timeLimit`, `death`, `topology`. It ends the previous run.
        case start
        /// The session is another instance from here on: `instance`.
        case instance
        /// The member has written its last entry.
        case quit
        /// `peer` is `state`; with `reason` when it is not connected.
        case state
        /// A message is about to be sent to `peer`: `number`, `hash`, and on which `link`, as far as known.
        case send
        /// It was accepted; `link` as known then. When it is the same as before, the message took that one.
        case sent
        /// It was refused: nothing of it was sent.
        case unsent
        /// A message was received from `peer`: `number`, `hash`, the sender's instance in `from`.
        case message
        /// Everything to `peer` on `link` up to `number` has arrived.
        case flushed
        /// A file is about to be offered to `peer`: `id`, its SHA-256 in `hash`.
        case offer
        /// A file was offered by `peer`: `id`.
        case offered
        /// The result of file `id`, to or from `peer`, as `role`: `outcome`, and `hash` when that is `ok`.
        case completed
        /// An attempt to connect to `peer` begins: `id`.
        case attempt
        /// The result of attempt `id` to `peer`: `outcome`.
        case outcome
        /// The member leaves, and sends GOODBYE to all peers.
        case goodbye
        /// The check assumes that no further events occur, for all members at once: `mark`.
        case rest
        /// By the nemesis: `peer` was killed, stopped, continued.
        case kill, stop
        case `continue`
        /// By the nemesis: nothing passes between `peers` and all others, until `heal` with the same `id`.
        case cut, heal
    }

    package enum State: String, Codable, Sendable { case notConnected, connecting, connected }

    package enum Role: String, Codable, Sendable { case sender, receiver }

    package enum Topology: String, Codable, Sendable { case mesh, star }

    /// The outcome of an attempt or a file that succeeded.
    package static let good = "ok"
    /// The author of entries about injected faults.
    package static let nemesis = "nemesis"

    /// Nanoseconds of CLOCK_BOOTTIME, which all processes of a machine share.
    package var t: UInt64
    /// The uid of the member, in hexadecimal; or `nemesis`.
    package var me: String
    package var event: Event
    package var instance: String?
    package var peer: String?
    package var name: String?
    package var state: State?
    package var reason: String?
    package var link: String?
    package var number: UInt64?
    package var hash: String?
    package var from: String?
    package var id: String?
    package var role: Role?
    package var outcome: String?
    package var mark: String?
    package var peers: [String]?
    package var cap: Int?
    /// In seconds.
    package var timeLimit: Double?
    /// The idle timeout after which it gives a peer up, in seconds.
    package var death: Double?
    package var topology: Topology?

    package init(_ event: Event, me: String, t: UInt64 = 0, peer: String? = nil) {
        self.event = event
        self.me = me
        self.t = t
        self.peer = peer
    }

    /// Returns the same entry, changed.
    package func with(_ change: (inout Entry) -> Void) -> Entry {
        var entry = self
        change(&entry)
        return entry
    }
}
