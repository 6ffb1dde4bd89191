import Multipeer
import MultipeerCommandLine

/// Whether anybody has come into the room, and whether anybody still may.
struct RoomOccupancy: Sendable {
    private(set) var wasLinked = false
    /// Whether somebody was waited for, and nobody came.
    private var wasAlone = false
    /// How many searches are going on: one for each data and each watched file, or one for a room that finds others, which
    /// never ends.
    private var searches = 0
    /// Why the last search failed.
    private var failure: DisconnectReason?
    /// Sent when the first peer is linked, or none is going to be.
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

    /// Whether there is somebody to wait for.
    var isPending: Bool { !wasLinked && searches > 0 }

    func wait(atMost patience: Duration) async {
        let timer = Task {
            try await Task.sleep(for: patience)
            settled.send(())
        }
        await settled.value()
        timer.cancel()
    }

    mutating func waitEnded() { wasAlone = !wasLinked }

    /// What is wrong when the input of a script has ended. `isPublic`: others find the room by themselves.
    func commandError(isPublic: Bool) -> CommandError? {
        if wasLinked { return nil }
        if let failure {
            return CommandError("nobody was linked: \("\(failure)".printable)", exit: .linkFailed)
        }
        guard wasAlone, isPublic else { return nil }
        return CommandError(
            "nobody came into the room", hint: "'multipeer doctor' says why", exit: .linkFailed)
    }
}
