import MultipeerCommandLine
import MultipeerEssentials

/// Finds one peer by its name, and invites it.
final class PeerFinder: Sendable {
    static let option = Usage.Option(
        "--to", short: "t", "NAME|ADDRESS",
        "the peer's name, IP address or host name; an address needs no multicast, and its port is "
            + "\(PortOption.standard) unless given: 192.0.2.1:4000, [::1]:4000, host.example:4000; a name's case does not matter, "
            + "and its beginning is enough if no other name has it, except with --unverified; if several peers have the "
            + "name, add the first digits of the id: ann#1f2e or #1f2e; with 24 digits or more, no other peer can pose as it, "
            + "if its id is kept, by default or with --id; ann#1f2e@192.0.2.1 is that peer at the address, or none: it has to "
            + "prove the digits before it gets names of files or any data; with --manual, refuse any other name"
    )

    /// The peer that the user has given.
    private enum Target {
        /// By what others see of it.
        case named(PeerSelector)
        /// By where it is.
        case at(PeerAddress)

        var selector: PeerSelector? {
            switch self {
            case .named(let selector): selector
            case .at(let address): address.selector
            }
        }
    }

    private let text: String
    private let target: Target
    private let options: DiscoveryOptions
    private let timeLimit: Duration
    private let timeout: Duration
    private let role: PeerRole
    /// Whether the name was given with `--to`.
    private let isOption: Bool
    private let isQuiet: Bool
    private let browser: Browser
    /// The peers that were verified before.
    private let store: TrustStore.File?
    private let gate: VerificationGate
    private let isWhole: Bool
    private static let standardTimeLimit = 30
    private static let silentTime = Duration.seconds(15)

    /// `name`: from `--to`, or the operand that takes its place. `--timeout` sets how long to look for the peer, default 30 seconds, and then how long its user may take to answer.
    init(
        _ arguments: Arguments, for text: String, as peer: PeerID, _ role: PeerRole,
        _ configuration: Session.Configuration
    ) throws(CommandError) {
        isOption = arguments.has(PeerFinder.option.name)
        try CodeOption.refuse(text, as: "the name of a peer")
        if let address = try PeerAddress.read(text, takesNames: isOption, arguments) {
            target = .at(address)
        } else if let selector = PeerSelector(text) {
            target = .named(selector)
        } else {
            throw arguments.commandError(
                "a peer is given as NAME, NAME#DIGITS, #DIGITS of an id or ADDRESS, not '\(text)'")
        }
        self.text = text.printable
        self.role = role
        store = configuration.trustStore
        gate = VerificationGate(arguments, configuration)
        isWhole = arguments.has(VerificationGate.option.name)
        options = try DiscoveryOptions(arguments)
        let given = try arguments.number("--timeout", in: 1...600)
        timeLimit = .seconds(given ?? PeerFinder.standardTimeLimit)
        timeout = .seconds(given ?? SessionOptions.standardTimeLimit)
        isQuiet = arguments.has("--quiet")
        browser = Browser(
            peer: peer, service: options.service, configuration: options.configuration)
    }

    /// Returns the peer once it is linked.
    func link(_ session: Session) async throws(CommandError) -> PeerID {
        switch target {
        case .at(let address): return try await link(session, at: address)
        case .named(let selector): return try await link(session, with: selector)
        }
    }

    private func link(_ session: Session, with selector: PeerSelector) async throws(CommandError) -> PeerID {
        do throws(MultipeerError) { try await browser.start() } catch { throw CommandError(searching: error) }
        DuplicateID.watch(browser)
        if !isQuiet { Terminal.say("looking for \(text) \(options.place)") }
        let matcher = PeerMatcher(
            for: selector, as: role, isWhole: isWhole,
            within: options.selectedInterfaces.isLoopbackOnly ? .machine : .network,
            knowing: store?.contents ?? TrustStore())
        let search = PeerSearch(browser, matcher, for: text, options, within: timeLimit, isQuiet: isQuiet)
        let file = isFile ? "and there is no file of this name" : nil
        let peer = try await search.peer(
            hint: file ?? "try 'multipeer browse' or 'multipeer doctor'",
            whereAlone: [file, wayOut].compactMap(\.self).joined(separator: "; "))
        if !isQuiet {
            if let remark = selector.remark(on: peer) { Terminal.say(remark) }
            Terminal.say("found \(peer.introduction); asking them to accept")
        }
        let watching = Task { [isQuiet] in if !isQuiet { await search.warnOfOthers(than: peer) } }
        let reminding = remind(of: peer.displayName)
        defer {
            watching.cancel()
            reminding.cancel()
        }
        do throws(MultipeerError) {
            let context = context(isProven: selector.proves(peer), for: peer)
            try await browser.invite(peer, to: session, context: context, timeout: timeout)
        } catch {
            throw CommandError(inviting: peer.displayName, error)
        }
        await browser.stop()
        return peer
    }

    /// Whether the digits that the user gave can be no other peer's. [uid.proof]
    func proves(_ peer: PeerID) -> Bool { target.selector?.proves(peer) ?? false }

    /// Invites the peer that is at an address, without looking for it.
    private func link(_ session: Session, at address: PeerAddress) async throws(CommandError) -> PeerID {
        let addresses = try await address.addresses()
        if !isQuiet { Terminal.say("inviting the peer at \(address.text); asking them to accept") }
        let reminding = remind(of: address.text)
        defer { reminding.cancel() }
        let context = context(isProven: address.selector?.canProve ?? false, for: nil)
        let peer = try await browser.invite(
            at: addresses, context, to: session, for: address, within: timeout)
        if !isQuiet {
            Terminal.say("the peer at \(address.text) is \(peer.introduction)")
            if let remark = address.selector?.remark(on: peer) { Terminal.say(remark) }
        }
        return peer
    }

    /// Says after a while what is known: whether the peer's user was asked is not.
    private func remind(of name: String) -> Task<Void, any Error> {
        Task { [isQuiet] in
            try await Task.sleep(for: PeerFinder.silentTime)
            if isQuiet { return }
            Terminal.say(
                "no answer from \(name.printable) yet: its user has not decided, or was not asked; "
                    + "'\(Terminal.name) doctor \(name.printable)' tests the way there")
        }
    }

    func stop() async { await browser.stop() }

    /// What the invitation says. What the files are is for a peer to which they may be sent. `isProven`: its id is the one that was
    /// asked for; `peer`: nil if only its address is known.
    private func context(isProven: Bool, for peer: PeerID?) -> [UInt8] {
        let isRefused = !isProven && gate.refusesForCertain(peer)
        return (isRefused ? role.unnamed : role).context
    }

    /// What helps where multicast does not work, which looks the same as a peer that is not there.
    private var wayOut: String {
        let command = "\(Terminal.name) \(role.command)" + (role.command == "send" ? " FILE" : "")
        return "without multicast, give the address there: '\(command) \(PeerFinder.option.name) ADDRESS'; "
            + "'\(Terminal.name) doctor' says what is missing"
    }

    /// Whether the user may have meant a file.
    private var isFile: Bool {
        guard case .send = role else { return false }
        return !isOption
    }
}

extension Browser {
    /// Invites the peer at the addresses of a place, if it is the one that is meant.
    func invite(
        at addresses: [SocketAddress], _ context: [UInt8], to session: Session, code: InvitationCode? = nil,
        for place: PeerAddress, within timeout: Duration
    ) async throws(CommandError) -> PeerID {
        do throws(MultipeerError) {
            return try await invite(
                at: addresses, to: session, code: code, context: context, timeout: timeout,
                proving: place.prefix, isExpected: { place.takes($0) })
        } catch {
            throw CommandError(inviting: addresses.first?.description ?? "", error)
        }
    }
}

extension CommandError {
    /// Creates the error of a search that cannot begin.
    init(searching error: MultipeerError) {
        let problem = CommandError(error)
        guard problem.text.ends(with: MultipeerError.withoutDiscovery) else { self = problem; return }
        self.init(
            ListeningPlace.reason(problem.text),
            hint: "with --to ADDRESS no discovery is needed; '\(Terminal.name) doctor' says what is missing",
            exit: problem.exit)
    }

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
        guard !problem.text.hasPart("has not proven an id") else {
            self.init(
                problem.text,
                hint: "no name of a file and no data was sent to it; a peer with --anonymous can prove no id",
                exit: problem.exit)
            return
        }
        self.init(
            problem.text,
            hint:
                "'\(Terminal.name) doctor \(peer.printable)' tests the way there; a firewall at the other side has to let in "
                + "TCP and UDP port \(PortOption.standard), or that of '--port' there",
            exit: problem.exit)
    }
}
