import Foundation
import Multipeer
import MultipeerCommandLine

/// Finds one peer by its name, and invites it.
final class PeerFinder: Sendable {
    static let option = Usage.Option(
        "--to", short: "t", "NAME",
        "the name of the peer to look for; its case does not matter, and the beginning is enough if no other name has it, "
            + "except with --unverified; if several peers have the name, add the first digits of the id: ann#1f2e or #1f2e; with 24 digits or more of an id "
            + "that is kept with --id, no other peer can pose as it; with --manual, refuse any other name")

    private let text: String
    private let selector: PeerSelector
    private let options: DiscoveryOptions
    private let timeLimit: Duration
    private let timeout: Duration
    private let role: PeerRole
    /// Whether the name was given with `--to`.
    private let isOption: Bool
    private let isQuiet: Bool
    private let browser: Browser
    private let matcher: Locked<PeerMatcher>
    private static let standardTimeLimit = 30

    /// `name`: from `--to`, or the operand that takes its place. `--timeout` sets how long to look for the peer, default 30 seconds, and then how long its user may take to answer.
    init(
        _ arguments: Arguments, for text: String, as peer: PeerID, _ role: PeerRole,
        knowing store: TrustStore.File? = nil
    ) throws(CommandError) {
        guard let selector = PeerSelector(text) else {
            throw arguments.commandError(
                "a peer is given as NAME, NAME#DIGITS or #DIGITS of an id, not '\(text)'")
        }
        isOption = arguments.has(PeerFinder.option.name)
        self.text = text.printable
        self.selector = selector
        self.role = role
        options = try DiscoveryOptions(arguments)
        let given = try arguments.number("--timeout", in: 1...600)
        timeLimit = .seconds(given ?? PeerFinder.standardTimeLimit)
        timeout = .seconds(given ?? SessionOptions.standardTimeLimit)
        isQuiet = arguments.has("--quiet")
        matcher = Locked(
            PeerMatcher(
                for: selector, as: role, isWhole: arguments.has(VerificationGate.option.name),
                within: options.selectedInterfaces.isLoopbackOnly ? .machine : .network,
                knowing: store?.contents ?? TrustStore()))
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
            let choices = peers.map { "'\($0.displayName.printable)#\($0.shortID)'" }
            throw CommandError(
                "'\(text)' can be any of \(peers.count) peers",
                hint: "choose " + choices.joined(separator: " or "),
                exit: .linkFailed)
        case .open:
            throw CommandError(
                "no peer named '\(text)' found \(options.place); \(matcher.withLock(\.summary))",
                hint: isFile
                    ? "and there is no file of this name" : "try 'multipeer browse' or 'multipeer doctor'",
                exit: .linkFailed)
        }
    }

    /// Whether the user may have meant a file.
    private var isFile: Bool {
        guard case .send = role else { return false }
        return !isOption
    }

    private func decide(since start: ContinuousClock.Instant, _ outcome: Promise<PeerMatcher.Verdict>) {
        let verdict = matcher.withLock { $0.verdict(at: start.duration(to: .now)) }
        if verdict != .open { outcome.send(verdict) }
    }
}
