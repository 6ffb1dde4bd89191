import MultipeerCommandLine
import MultipeerEssentials

/// Advertises a receiver of files, or one end of a link, and asks the user about each peer that wants to connect.
final class PeerAdvertiser: Sendable {
    static let consent = Usage.Option(
        "--yes", short: "y",
        "accept the first peer that reaches this machine, without asking; with 'receive --keep', every one; --trust can "
            + "restrict which"
    )

    private let role: PeerRole
    private let options: DiscoveryOptions
    private let addresses: [SocketAddress]
    private let advertiser: Advertiser
    /// How long to wait for peers, all in all; nil for no limit.
    private let timeLimit: Duration?
    private let state = Locked(State())
    /// Whether the user is asked about each peer.
    let isAsking: Bool
    private let isQuiet: Bool
    private let isVerbose: Bool
    private let gate: VerificationGate
    private let offers = Locked<[PeerID: OfferedFiles]>([:])
    /// What the user has read in a question about who the peer is.
    private let said = Locked<[PeerID: String]>([:])
    private static let mostOffers = 256

    private struct State: Sendable {
        /// When the first wait began.
        var begin: ContinuousClock.Instant?
        /// How this peer is reached, as the user was told last.
        var told: [String] = []
        /// After a peer was accepted.
        var stopping: Task<Void, Never>?
    }

    private static let prompts = Worker("consent")

    /// Throws when there is no terminal to ask on.
    init(_ arguments: Arguments, as own: SessionOptions, _ role: PeerRole) throws(CommandError) {
        self.role = role
        isAsking = !arguments.has(PeerAdvertiser.consent.name)
        guard !isAsking || Terminal.isThere else {
            throw CommandError(
                "no terminal to ask for consent on",
                hint: "use --yes to accept the first peer; try '\(Terminal.name) \(role.command) --help'",
                exit: .usage)
        }
        options = try DiscoveryOptions(arguments)
        addresses = own.configuration.listenAddresses
        gate = VerificationGate(arguments, own.configuration)
        timeLimit = try arguments.number("--timeout", in: 1...600).map { .seconds($0) }
        isQuiet = arguments.has("--quiet")
        isVerbose = arguments.has("--verbose")
        advertiser = try CommandError.translating { [options] () throws(MultipeerError) in
            try Advertiser(
                peer: own.peer, service: options.service.name, info: role.info,
                identity: own.configuration.identity, configuration: own.sharing(options.configuration))
        }
    }

    /// Returns the accepted peer, once it is linked. Can be called again when that peer has left.
    func link(_ session: Session) async throws(CommandError) -> PeerID {
        await state.withLock(\.stopping)?.value
        try await start()
        return try await first(session)
    }

    private func start() async throws(CommandError) {
        try await CommandError.translating { () async throws(MultipeerError) in try await advertiser.start() }
        Shortage.warn()
        DuplicateID.watch(advertiser)
        if !isQuiet {
            let peer = advertiser.peer
            let place = await ListeningPlace(of: advertiser, at: addresses)
            let other =
                place.problem == nil ? "\(operand)\(options.typeOption)" : String(place.option.dropFirst())
            var lines = place.lines(isVerbose: isVerbose)
            lines.append(
                "waiting as \(peer.introduction) \(options.place); the other side runs '\(counterpart) \(other)'"
            )
            if peer.uid.isKeyed { lines.append("your id, to compare: #\(peer.id)") }
            let isNew = state.withLock { [lines] state in
                defer { state.told = lines }
                return state.told != lines
            }
            if isNew { for line in lines { Terminal.say(line) } }
        }
    }

    private func first(_ session: Session) async throws(CommandError) -> PeerID {
        let now = ContinuousClock.now
        let earlier = state.withLock { state in
            defer { state.begin = state.begin ?? now }
            return state.begin
        }
        let waiting = Task { () async -> Result<PeerID?, CommandError> in
            do throws(CommandError) {
                return .success(try await self.admit(into: session, mayRefuseUnasked: false))
            } catch {
                return .failure(error)
            }
        }
        let clock = Task { [timeLimit] in
            guard let timeLimit else { return }
            try await Task.sleep(until: (earlier ?? now) + timeLimit)
            waiting.cancel()
        }
        let result = await waiting.value
        clock.cancel()
        // No other peer is accepted. The goodbyes take 160 ms, which the peer does not wait for: the end of the command does.
        let stopping = Task { await advertiser.stop() }
        state.withLock { $0.stopping = stopping }
        guard let peer = try result.get() else {
            throw CommandError(
                earlier == nil ? "no peer connected" : "no other peer connected",
                hint: "use --timeout to wait longer", exit: earlier == nil ? .linkFailed : .incomplete)
        }
        return peer
    }

    /// Links with every peer that is accepted, until the task is cancelled.
    func admitAll(into session: Session) async throws(CommandError) {
        try await start()
        while !Task.isCancelled, try await admit(into: session, mayRefuseUnasked: true) != nil {}
    }

    /// What an accepted peer has said it sends; nil if it has not.
    func offer(of peer: PeerID) -> OfferedFiles? { offers.withLock { $0[peer] } }

    /// What the user has read about who an accepted peer is.
    func said(of peer: PeerID) -> String? { said.withLock { $0[peer] } }

    func stop() async { await advertiser.stop() }

    /// What the other user types before the name or the address of this peer.
    private var counterpart: String {
        "\(Terminal.name) \(role.counterpart ?? role.command)" + (role == .receive ? " FILE" : "")
    }

    /// What the other user types for this peer: its name, with digits of its id if the name alone would be read as something else.
    private var operand: String {
        let name = advertiser.peer.displayName
        let isPlain = name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) }
        let isRead =
            PeerOptions.misreading(of: name) == nil && PeerSelector(name)?.name == name
            && PeerAddress.fault(in: name, takesNames: false) == nil
        // 'link' takes a code in the same place.
        let option = role == .link && InvitationCode.isMeant(by: [name]) ? "\(PeerFinder.option.name) " : ""
        return option + (isPlain ? name : "NAME") + (isRead ? "" : "#\(advertiser.peer.shortID)")
    }

    /// Returns the first peer that is accepted and linked; nil when the task is cancelled. `mayRefuseUnasked`: one about which the
    /// user cannot be asked is refused with a message, since there is work for others; otherwise it is an error.
    private func admit(
        into session: Session, mayRefuseUnasked: Bool
    ) async throws(CommandError) -> PeerID? {
        for await invitation in advertiser.invitations {
            // An invitation that was withdrawn before its question is not answered.
            guard invitation.isOpen else { continue }
            let inviter = invitation.inviter
            let theirs = PeerRole(context: invitation.context).flatMap { role.suits($0) ? $0 : nil }
            let answer = await answer(to: invitation, theirs, waits: !mayRefuseUnasked)
            guard case .success(true) = answer, let theirs else {
                // Fails if the inviter gave up; there is nothing to decline then.
                try? await invitation.decline()
                guard case .failure(let error) = answer else { continue }
                let text = "cannot ask about \(inviter.introduction): \(error.text)"
                guard mayRefuseUnasked else { throw CommandError(text, hint: error.hint, exit: .system) }
                Terminal.warn("\(text); it was refused")
                continue
            }
            if case .send(let files?) = theirs {
                offers.withLock { offers in
                    // Only peers that are linked are asked for.
                    if offers.count >= PeerAdvertiser.mostOffers { offers.removeAll() }
                    offers[inviter] = files
                }
            }
            do throws(MultipeerError) {
                try await invitation.accept(into: session)
                return inviter
            } catch {
                if Task.isCancelled { return nil }
                Terminal.warn("cannot link with \(inviter.introduction): \(CommandError(error))")
            }
        }
        return nil
    }

    private func answer(
        to invitation: Invitation, _ theirs: PeerRole?, waits: Bool
    ) async -> Result<Bool, CommandError> {
        guard let theirs else { return .success(false) }
        do throws(CommandError) { return .success(try await agrees(to: invitation, theirs, waits)) } catch {
            return .failure(error)
        }
    }

    /// Returns whether the user wants the peer. `waits`: in the background the command is stopped; otherwise this throws there.
    private func agrees(
        to invitation: Invitation, _ theirs: PeerRole, _ waits: Bool
    ) async throws(CommandError) -> Bool {
        guard isAsking else { return true }
        var isContestShown: Bool
        // It may be contested only after the question: then the answer was given without knowing that.
        repeat {
            isContestShown = invitation.isContested
            let trust = gate.text(inviter: invitation.inviter)
            let question = PeerAdvertiser.question(
                from: invitation.inviter, theirs, trust, isContested: isContestShown)
            let withdrawal = Cancellation()
            let watching = Task {
                await invitation.waitUntilEnded()
                withdrawal.cancel()
            }
            defer { watching.cancel() }
            let answer = try await PeerAdvertiser.prompts.run { () throws(CommandError) in
                if !waits { try Terminal.checkForeground() }
                return try Terminal.ask(question, unless: withdrawal)
            }
            guard invitation.isOpen else {
                Terminal.say("\(invitation.inviter.introduction) no longer wants to \(theirs.command)")
                return false
            }
            guard Terminal.isYes(answer) else { return false }
            said.withLock { said in
                if said.count >= PeerAdvertiser.mostOffers { said.removeAll() }
                said[invitation.inviter] = trust
            }
        } while invitation.isContested != isContestShown
        return true
    }

    private static func question(
        from inviter: PeerID, _ theirs: PeerRole, _ trust: String, isContested: Bool
    ) -> String {
        let contest =
            isContested ? " Another peer claims the same id: one of the two is not who it claims to be." : ""
        let lines = ["\(inviter.introduction), found on the network, wants to \(theirs.wish).\(contest)"]
        let list =
            if case .send(let files?) = theirs { files.list(width: Terminal.width) } else { [String]() }
        return (lines + list + [trust, "Accept? [y/N] "]).joined(separator: "\n")
    }
}
