import MultipeerCommandLine
import MultipeerEssentials

/// A search for the one peer that a selector means, among those that discovery reports.
final class PeerSearch: Sendable {
    private let browser: Browser
    private let matcher: Locked<PeerMatcher>
    private let timeLimit: Duration
    private let isQuiet: Bool
    private let hasSuggested = Locked(false)
    /// After so long a peer that is there has usually answered.
    static let usualTime = Duration.seconds(3)
    /// What the user has typed, for messages.
    private let text: String
    private let place: String

    /// `browser`: one that has been started. `text`: what the user has typed.
    init(
        _ browser: Browser, _ matcher: PeerMatcher, for text: String, _ options: DiscoveryOptions,
        within timeLimit: Duration, isQuiet: Bool = false
    ) {
        self.isQuiet = isQuiet
        self.browser = browser
        self.matcher = Locked(matcher)
        self.timeLimit = timeLimit
        self.text = text.printable
        place = options.place
    }

    /// Returns the peer. Throws when several match, or none in time; `hint`: what to try then, and `whereAlone`: if no peer at all was
    /// seen.
    func peer(hint: String, whereAlone: String? = nil) async throws(CommandError) -> PeerID {
        switch await verdict() {
        case .found(let peer): return peer
        case .several(let peers):
            let choices = peers.map { "'\($0.displayName.printable)#\($0.shortID)'" }
            throw CommandError(
                "'\(text)' can be any of \(peers.count) peers",
                hint: "choose " + choices.joined(separator: " or "),
                exit: .linkFailed)
        case .open:
            let matcher = matcher.withLock(\.self)
            throw CommandError(
                "no peer named '\(text)' found \(place); \(matcher.summary)",
                hint: matcher.isAlone ? whereAlone ?? hint : hint, exit: .linkFailed)
        }
    }

    /// Warns, once, when another peer turns out to match, too: one that has answered late. Runs until the task is cancelled.
    func warnOfOthers(than peer: PeerID) async {
        for await event in browser.events {
            let others = matcher.withLock { matcher in
                matcher.note(event, at: .zero)
                return matcher.others(than: peer)
            }
            guard let other = others.first else { continue }
            return Terminal.warn(
                "'\(text)' can also be \(other.introduction), which has answered later: if you mean that one, end this "
                    + "command and give '\(other.displayName.printable)#\(other.shortID)'")
        }
    }

    private func verdict() async -> PeerMatcher.Verdict {
        let start = ContinuousClock.now
        let outcome = Promise<PeerMatcher.Verdict>()
        let watching = Task {
            for await event in browser.events {
                let deadline = matcher.withLock { matcher in
                    matcher.note(event, at: start.duration(to: .now))
                    return matcher.deadline
                }
                decide(since: start, outcome)
                if start.duration(to: .now) >= PeerSearch.usualTime { suggest() }
                guard let deadline else { continue }
                Task {
                    try? await Task.sleep(until: start + deadline)
                    decide(since: start, outcome)
                }
            }
        }
        let clock = Task { [timeLimit] in
            try? await Task.sleep(for: timeLimit)
            outcome.send(.open)
        }
        let waiting = Task {
            guard (try? await Task.sleep(for: PeerSearch.usualTime)) != nil else { return }
            suggest()
        }
        let verdict = await outcome.value()
        watching.cancel()
        waiting.cancel()
        clock.cancel()
        return verdict
    }

    /// Names, once, the peer that was probably meant. The search goes on, since the one with this name may be about to start.
    private func suggest() {
        guard !isQuiet, let near = matcher.withLock(\.near), hasSuggested.setFirst() else { return }
        Terminal.say("no '\(text)' found \(place) yet; did you mean \(near.introduction)?")
    }

    private func decide(since start: ContinuousClock.Instant, _ outcome: Promise<PeerMatcher.Verdict>) {
        let verdict = matcher.withLock { $0.verdict(at: start.duration(to: .now)) }
        if verdict != .open { outcome.send(verdict) }
    }
}
