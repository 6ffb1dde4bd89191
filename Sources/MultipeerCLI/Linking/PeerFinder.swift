import Foundation
import Multipeer
import MultipeerCommandLine

/// Finds one peer by its name, and invites it.
final class PeerFinder: Sendable {
    static let option = Usage.Option(
        "--to", short: "t", "NAME|ADDRESS",
        "the peer's name, IP address or host name; an address needs no multicast, and its port is "
            + "\(PortOption.standard) unless given: 192.0.2.1:4000, [::1]:4000, host.example:4000; a name's case does not matter, "
            + "and its beginning is enough if no other name has it, except with --unverified; if several peers have the "
            + "name, add the first digits of the id: ann#1f2e or #1f2e; with 24 digits or more of an id that is kept with "
            + "--id, no other peer can pose as it; ann#1f2e@192.0.2.1 is that peer at the address, or none; with --manual, "
            + "refuse any other name")

    private let text: String
    private let selector: PeerSelector?
    /// Where the peer is, if the user gave that.
    private let address: PeerAddress?
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
        isOption = arguments.has(PeerFinder.option.name)
        address = PeerAddress(text, takesNames: isOption)
        let selector = address.map(\.selector) ?? PeerSelector(text)
        guard address != nil || selector != nil else {
            throw arguments.commandError(
                "a peer is given as NAME, NAME#DIGITS, #DIGITS of an id or ADDRESS, not '\(text)'")
        }
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
                for: selector ?? PeerSelector(any: ()), as: role,
                isWhole: arguments.has(VerificationGate.option.name),
                within: options.selectedInterfaces.isLoopbackOnly ? .machine : .network,
                knowing: store?.contents ?? TrustStore()))
        browser = Browser(
            peer: peer, service: options.service, configuration: options.configuration)
    }

    /// Returns the peer once it is linked.
    func link(_ session: Session) async throws(CommandError) -> PeerID {
        if let address { return try await link(session, at: address) }
        try await CommandError.translating { () async throws(MultipeerError) in try await browser.start() }
        if !isQuiet { Terminal.say("looking for \(text) \(options.place)") }
        let peer = try await find()
        if !isQuiet {
            if let remark = selector?.remark(on: peer) { Terminal.say(remark) }
            Terminal.say("found \(peer.introduction); waiting for them to accept")
        }
        do throws(MultipeerError) {
            try await browser.invite(peer, to: session, context: role.context, timeout: timeout)
        } catch {
            throw CommandError(inviting: peer.displayName, error)
        }
        await browser.stop()
        return peer
    }

    /// Whether the digits that the user gave can be no other peer's. [uid.proof]
    func proves(_ peer: PeerID) -> Bool { selector?.proves(peer) ?? false }

    /// Invites the peer that is at an address, without looking for it.
    private func link(_ session: Session, at address: PeerAddress) async throws(CommandError) -> PeerID {
        let addresses = try await address.addresses()
        if !isQuiet { Terminal.say("inviting the peer at \(address.text); waiting for them to accept") }
        let peer = try await browser.invite(
            at: addresses, role.context, to: session, for: selector, within: timeout)
        if !isQuiet {
            Terminal.say("the peer at \(address.text) is \(peer.introduction)")
            if let remark = selector?.remark(on: peer) { Terminal.say(remark) }
        }
        return peer
    }

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

extension Browser {
    /// Invites the peer at these addresses, if the selector matches it.
    func invite(
        at addresses: [SocketAddress], _ context: [UInt8], to session: Session, code: InvitationCode? = nil,
        for selector: PeerSelector?, within timeout: Duration
    ) async throws(CommandError) -> PeerID {
        do throws(MultipeerError) {
            return try await invite(
                at: addresses, to: session, code: code, context: context, timeout: timeout
            ) { found in selector.map { !$0.matches([found]).isEmpty } ?? true }
        } catch {
            throw CommandError(inviting: addresses.first?.description ?? "", error)
        }
    }
}

extension CommandError {
    /// Creates the error of an invitation, with what to try if the peer was not reached, or has another code.
    init(inviting peer: String, _ error: MultipeerError) {
        let problem = CommandError(error)
        if [.wrongCode, .unknownCode].contains(error.code) {
            self.init(
                error.description.printable, hint: "end the other command, and start it again for a new code",
                exit: problem.exit)
            return
        }
        guard error.code == .unreachable else { self = problem; return }
        self.init(
            problem.text,
            hint:
                "'\(Terminal.name) doctor \(peer.printable)' tests the way there; a firewall at the other side has to let in "
                + "TCP and UDP port \(PortOption.standard), or that of '--port' there",
            exit: problem.exit)
    }
}
