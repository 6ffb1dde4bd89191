import MultipeerCommandLine
import MultipeerEssentials

/// Whether any peer has joined the room, and whether one still may.
struct RoomOccupancy: Sendable {
    private(set) var wasLinked = false
    /// Whether the wait for a first peer ended without one.
    private var wasAlone = false
    /// The number of running searches: one for each connection data and each watched file, or one for discovery, which never
    /// ends.
    private var searches = 0
    /// Why the last search failed.
    private var failure: DisconnectReason?
    /// Resolved when the first peer is linked, or none will be.
    private let settled = Promise<Void>()

    mutating func searchesBegan(_ count: Int) { searches += count }

    mutating func searchEnded(isLinked: Bool) {
        searches -= 1
        if searches == 0, !isLinked { settled.send(()) }
    }

    mutating func failed(_ error: MultipeerError) { failure = error.reason ?? failure }

    mutating func linked() {
        wasLinked = true
        settled.send(())
    }

    /// Whether a first peer may still join.
    var isPending: Bool { !wasLinked && searches > 0 }

    func wait(atMost timeLimit: Duration) async {
        let timer = Task {
            try await Task.sleep(for: timeLimit)
            settled.send(())
        }
        await settled.value()
        timer.cancel()
    }

    mutating func waitEnded() { wasAlone = !wasLinked }

    /// Returns the error when the input of a script has ended. `isPublic`: the room is found over discovery.
    func commandError(isPublic: Bool) -> CommandError? {
        if wasLinked { return nil }
        if let failure {
            return CommandError("no peer was linked: \("\(failure)".printable)", exit: .linkFailed)
        }
        guard wasAlone, isPublic else { return nil }
        return CommandError(
            "nobody joined the room", hint: "run 'multipeer doctor' to diagnose", exit: .linkFailed)
    }
}
