import MultipeerCommandLine
import MultipeerEssentials

/// Warns the user, once, that peers are refused because too many files are open.
enum Shortage {
    private static let isWatched = Locked(false)

    static func warn() {
        guard isWatched.setFirst() else { return }
        Task {
            await AcceptShortage.shared.first.value()
            Terminal.warn("too many open files: a peer that connects is refused (run 'ulimit -n 1024')")
        }
    }
}
