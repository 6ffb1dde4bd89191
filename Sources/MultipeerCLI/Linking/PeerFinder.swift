import Foundation
import Multipeer
import MultipeerCommandLine

/// Finds one receiver, and invites it.
final class PeerFinder: Sendable {
    static let option = Usage.Option(
        "--to", "NAME",
        "the receiver's display name; if several peers have it, add the first digits of the id: ann#1f2e or #1f2e; with 24 "
            + "digits or more of an id that is kept with --id, no other peer can pose as the receiver; with --manual, refuse "
            + "any other name")

    private let text: String
    private let selector: PeerSelector
    private let options: DiscoveryOptions
    private let timeLimit: Duration
    private let timeout: Duration
    private let role: PeerRole
    private let isQuiet: Bool
    private let browser: Browser
    private let matcher: Locked<PeerMatcher>
    private static let standardTimeLimit = 30

    /// `--timeout` sets how long to look for the receiver, default 30 seconds, and then how long its user may take to answer.
    init(_ arguments: Arguments, as peer: PeerID, _ role: PeerRole) throws(CommandError) {
        let text = arguments.value(PeerFinder.option.name) ?? ""
        guard let selector = PeerSelector(text) else {
            throw arguments.commandError(
                "option '--to' takes NAME, NAME#DIGITS or #DIGITS of an id, not '\(text)'")
        }
        self.text = text.printable
        self.selector = selector
        self.role = role
        options = try DiscoveryOptions(arguments)
        let given = try arguments.number("--timeout", in: 1...600)
        timeLimit = .seconds(given ?? PeerFinder.standardTimeLimit)
        timeout = .seconds(given ?? SessionOptions.standardTimeLimit)
        isQuiet = arguments.has("--quiet")
        matcher = Locked(PeerMatcher(for: selector))
        browser = Browser(
            peer: peer, service: options.service, configuration: options.configuration)
    }

    /// Returns the peer once it is linked.
    func link(_ session: Session) async throws(CommandError) -> PeerID {
        try await CommandError.translating { () async throws(MultipeerError) in try await browser.start() }
        if !isQuiet { Terminal.say("looking for \(text) \(options.place)") }
        let peer = try await find()
        if !isQuiet {
            if let remark = selector.remark(on: peer) { Terminal.say(remark) }
            Terminal.say("found \(peer.introduction); waiting for them to accept")
        }
        try await CommandError.translating { () async throws(MultipeerError) in
            try await browser.invite(peer, to: session, context: role.context, timeout: timeout)
        }
        await browser.stop()
        return peer
    }

    /// Whether the digits that the user gave can be no other peer's. [uid.proof]
    func proves(_ peer: PeerID) -> Bool { selector.proves(peer) }

    func stop() async { await browser.stop() }

    private func find() async throws(CommandError) -> PeerID {
        let start = ContinuousClock.now
        let outcome = Promise<PeerMatcher.Verdict>()
        let watching = Task {
            for await event in browser.events {
                let deadline = matcher.withLock { matcher in
                    matcher.note(event, at: start.duration(to: .now))
                    return matcher.deadline
                }
                decide(since: start, outcome)
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
        let verdict = await outcome.value()
        watching.cancel()
        clock.cancel()
        switch verdict {
        case .found(let peer): return peer
        case .several(let peers):
            let choices = peers.map { "--to '\($0.displayName.printable)#\($0.shortID)'" }
            throw CommandError(
                "\(peers.count) peers are named '\(text)'",
                hint: "choose one with " + choices.joined(separator: " or "),
                exit: .linkFailed)
        case .open:
            throw CommandError(
                "no receiver named '\(text)' found \(options.place); \(matcher.withLock(\.summary))",
                hint: "try 'multipeer browse' or 'multipeer doctor'",
                exit: .linkFailed)
        }
    }

    private func decide(since start: ContinuousClock.Instant, _ outcome: Promise<PeerMatcher.Verdict>) {
        let verdict = matcher.withLock { $0.verdict(at: start.duration(to: .now)) }
        if verdict != .open { outcome.send(verdict) }
    }
}
