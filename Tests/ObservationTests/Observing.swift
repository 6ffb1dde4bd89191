import MultipeerObservation
import Observation
import TestSupport

/// Waits until the condition holds. It is evaluated again after a change of what it has read, and at no other time: a
/// change that is not observed makes the test fail.
func until(
    _ timeout: Duration = .seconds(60), _ condition: @escaping @MainActor @Sendable () -> Bool
) async throws {
    try await within(timeout) {
        while true {
            let (changes, continuation) = AsyncStream<Void>.makeStream()
            let holds = await MainActor.run {
                withObservationTracking(condition) { continuation.finish() }
            }
            if holds { return }
            for await _ in changes {}
            try Task.checkCancellation()
        }
    }
}

/// Counts how often views that read one property each would be drawn again, by the names of these.
@Observable
@MainActor final class ChangeLog {
    var changed: Set<String> { Set(counts.keys) }
    private(set) var counts: [String: Int] = [:]

    /// Observes what `read` reads, from now on.
    func watch(_ name: String, _ read: @escaping @MainActor @Sendable () -> Void) {
        withObservationTracking(read) { [weak self] in
            // Changes happen on the main actor; the next one may come as soon as this one is done.
            Task { @MainActor in self?.note(name, read) }
        }
    }

    private func note(_ name: String, _ read: @escaping @MainActor @Sendable () -> Void) {
        counts[name, default: 0] += 1
        watch(name, read)
    }
}
