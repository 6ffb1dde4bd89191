import MultipeerCommandLine
import MultipeerEssentials

/// Shows a one-time code, and links with the peer that proves it.
final class CodeAdvertiser: Sendable {
    private let code: InvitationCode
    private let role: PeerRole
    private let options: DiscoveryOptions
    private let addresses: [SocketAddress]
    private let advertiser: Advertiser
    /// How long to wait for the other side; nil for no limit.
    private let timeLimit: Duration?
    private let isQuiet: Bool
    private let isVerbose: Bool
    private let showsQR: Bool
    private let isJSON: Bool
    private let outcome = Promise<Result<PeerID, CommandError>>()
    private let phase = Locked(Phase.open)

    private enum Phase: Sendable {
        case open
        /// A peer has proven the code: only the link is waited for.
        case proven
        case withdrawn
    }

    init(_ arguments: Arguments, _ code: InvitationCode, as own: SessionOptions, _ role: PeerRole)
        throws(CommandError)
    {
        self.code = code
        self.role = role
        options = try DiscoveryOptions(arguments)
        addresses = own.configuration.listenAddresses
        timeLimit = try arguments.number("--timeout", in: 1...600).map { .seconds($0) }
        isQuiet = arguments.has("--quiet")
        isVerbose = arguments.has("--verbose")
        showsQR = arguments.has(QRPicture.option.name)
        isJSON = arguments.has("--json")
        advertiser = try CommandError.translating { [options] () throws(MultipeerError) in
            try Advertiser(
                peer: own.peer, service: options.service.name, info: role.info,
                identity: own.configuration.identity, code: code,
                configuration: own.sharing(options.configuration))
        }
    }

    /// Returns the peer, once it has proven the code and is linked. Throws after a wrong guess, which ends the code.
    func link(_ session: Session) async throws(CommandError) -> PeerID {
        try await begin()
        DuplicateID.watch(advertiser)
        return try await peer(in: session)
    }

    /// Shows the code, which is valid then.
    func begin() async throws(CommandError) {
        try await CommandError.translating { () async throws(MultipeerError) in try await advertiser.start() }
        Shortage.warn()
        show(await ListeningPlace(of: advertiser, at: addresses))
    }

    /// Waits for the peer.
    func peer(in session: Session) async throws(CommandError) -> PeerID {
        let watching = [
            Task { await self.watch() }, Task { await self.admit(into: session) },
            Task { await self.giveUp() },
        ]
        let result = await outcome.value()
        for task in watching { task.cancel() }
        // The goodbyes take 160 ms, which the peer does not wait for: the end of the command does.
        Task { await advertiser.stop() }
        return try result.get()
    }

    func stop() async { await advertiser.stop() }

    /// Ends the code, unless a peer has proven it; returns whether it is withdrawn.
    func withdraw() -> Bool {
        guard begin(.withdrawn) else { return false }
        outcome.send(.failure(CommandError("the code was withdrawn", exit: .linkFailed)))
        return true
    }

    var isWithdrawn: Bool { phase.withLock { $0 == .withdrawn } }

    /// Returns whether the code was still open.
    private func begin(_ next: Phase) -> Bool {
        phase.withLock { phase in
            guard phase == .open else { return false }
            phase = next
            return true
        }
    }

    /// Without a word around it, the code is for a program, which reads standard output; that of `link` belongs to the peer.
    private func show(_ listening: ListeningPlace) {
        defer { if showsQR { Terminal.show(QRPicture.lines(for: "\(code)")) } }
        if isJSON { try? Terminal.put(TransferEvent.code("\(code)").line) }
        guard isQuiet else {
            let isHere = options.selectedInterfaces.isLoopbackOnly
            let place = isHere ? "in another terminal" : "on the other machine"
            for line in listening.lines(isVerbose: isVerbose) { Terminal.say(line) }
            return Terminal.say("\(place), run: \(counterpart)\(listening.option)")
        }
        guard !isJSON else { return }
        let line = "\(code)\n"
        if role == .link { Terminal.show(line) } else { try? Terminal.put(line) }
    }

    /// What the other user types.
    private var counterpart: String {
        let words =
            switch role {
            case .send, .text: "\(code)"
            case .receive: "send FILE --code \(code)"
            case .link, .chat: "\(role.command) \(code)"
            }
        return "\(Terminal.name) \(words)\(options.typeOption)"
    }

    private func watch() async {
        for await event in advertiser.codeEvents {
            guard case .wrongGuess(let address, _, let endsCode) = event, endsCode else { continue }
            outcome.send(
                .failure(
                    CommandError(
                        "someone at \(address.printable) entered a wrong code, so \(code) is no longer valid; nothing was "
                            + "sent or received", hint: "run the command again for a new code",
                        exit: .linkFailed)))
        }
    }

    /// Accepts the first inviter, and no other: it has proven the code, which then is used up.
    private func admit(into session: Session) async {
        for await invitation in advertiser.invitations {
            guard begin(.proven) else {
                try? await invitation.decline()
                return
            }
            let inviter = invitation.inviter
            do throws(MultipeerError) {
                guard let theirs = PeerRole(context: invitation.context), role.suits(theirs) else {
                    try await invitation.decline()
                    let name = inviter.displayName.printable
                    outcome.send(
                        .failure(
                            CommandError(
                                "\(name) has the code, but runs another command than '\(counterpart)'",
                                exit: .linkFailed)))
                    return
                }
                try await invitation.accept(into: session)
                outcome.send(.success(inviter))
            } catch {
                if !Task.isCancelled { outcome.send(.failure(CommandError(error))) }
            }
            return
        }
    }

    private func giveUp() async {
        guard let timeLimit, (try? await Task.sleep(for: timeLimit)) != nil, phase.withLock({ $0 == .open })
        else { return }
        outcome.send(
            .failure(
                CommandError(
                    "no peer has used the code in time", hint: "without --timeout there is no limit",
                    exit: .linkFailed)))
    }
}
