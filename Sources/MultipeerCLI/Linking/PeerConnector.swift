import MultipeerCommandLine
import MultipeerEssentials

/// Links with one peer, by hand, over discovery or with a code, and ends the link gracefully, with all cleanup.
final class PeerConnector: Sendable {
    static let options =
        [CodeComparison.option, QRPicture.option] + ManualExchange.options + SessionOptions.options

    /// How the two peers find each other.
    enum Way: Sendable {
        case byHand(ManualExchange)
        /// This side looks for the peer.
        case connecting(PeerFinder)
        /// This side is advertised.
        case hosting(PeerAdvertiser)
        /// This side shows a code.
        case showingCode(CodeAdvertiser)
        /// The same, and the user may choose a receiver instead.
        case choosing(CodeAdvertiser, ReceiverChooser)
        /// This side was given the code of the other one.
        case enteringCode(CodeFinder)

        /// Whether the other user needs something that this side shows.
        fileprivate var showsSomething: Bool {
            switch self {
            case .byHand, .showingCode, .choosing: true
            case .connecting, .hosting, .enteringCode: false
            }
        }
    }

    let session: Session
    let isQuiet: Bool
    let isVerbose: Bool
    private let isMesh: Bool
    private let way: Way
    private let verification: CodeComparison?
    private let gate: VerificationGate
    /// Whether this side sends something.
    private let isSending: Bool
    private let state = Locked(State())

    private struct State: Sendable {
        var leaving: Task<Void, Never>?
        var data: ConnectionData?
    }

    /// Reads all options of the exchange and of the session; does not use the network yet.
    /// `name`: of the peer to look for.
    init(_ arguments: Arguments, as role: PeerRole, with name: String? = nil) throws(CommandError) {
        try arguments.exclude(["--verbose", "--quiet"])
        let options = try SessionOptions(arguments)
        var configuration = options.configuration
        way = try PeerConnector.way(arguments, role, name, options)
        guard way.showsSomething || !arguments.has(QRPicture.option.name) else {
            throw arguments.commandError("--qr shows a new code or connection data, and there is neither")
        }
        // A peer that is found is linked alone, without the peers it is linked with.
        if case .byHand = way {} else { configuration.topology = .star }
        verification = try CodeComparison(arguments, configuration)
        gate = VerificationGate(arguments, configuration)
        isSending = role != .receive
        session = try CommandError.translating { [configuration] () throws(MultipeerError) in
            try Session(peer: options.peer, configuration: configuration)
        }
        isQuiet = arguments.has("--quiet")
        isVerbose = arguments.has("--verbose")
        isMesh = arguments.has("--mesh")
    }

    private static func way(
        _ arguments: Arguments, _ role: PeerRole, _ name: String?, _ own: SessionOptions
    ) throws(CommandError) -> Way {
        let takesOperand = (role == .receive || role == .link) && CodeOption.isOperand(arguments)
        if let code = try CodeOption.read(arguments, takingOperands: takesOperand) {
            try CodeOption.exclude(contradictions, arguments)
            // Where the other side is may be known, not who it is.
            let address = try address(name ?? arguments.value(PeerFinder.option.name), code, arguments)
            switch code {
            case .making(let code):
                return .showingCode(try CodeAdvertiser(arguments, code, as: own, role))
            case .given(let code):
                return .enteringCode(try CodeFinder(arguments, code, as: own.peer, role, at: address))
            }
        }
        guard role != .receive || !arguments.has(PeerFinder.option.name) else {
            throw arguments.commandError("'receive --to ADDRESS' needs a code, such as 7-guitar-island")
        }
        if try ManualExchange.isWanted(arguments) { return .byHand(try ManualExchange(arguments)) }
        guard !arguments.has("--mesh") else {
            throw arguments.commandError("--mesh needs connection data: --manual, --data, --from or --out")
        }
        if let name {
            return .connecting(try PeerFinder(arguments, for: name, as: own.peer, role, own.configuration))
        }
        if role == .receive || role == .link {
            return .hosting(try PeerAdvertiser(arguments, as: own, role))
        }
        let advertiser = try CodeAdvertiser(arguments, .random(), as: own, role)
        let reads = arguments.operands.contains("-")
        guard let chooser = try ReceiverChooser(arguments, as: own, role, reads: reads) else {
            return .showingCode(advertiser)
        }
        return .choosing(advertiser, chooser)
    }

    /// Returns the address at which a code is tried.
    private static func address(
        _ text: String?, _ code: CodeOption, _ arguments: Arguments
    ) throws(CommandError) -> PeerAddress? {
        guard let text else { return nil }
        guard case .given = code, let address = try PeerAddress.read(text, takesNames: true, arguments) else {
            let other = arguments.has(PeerFinder.option.name) ? PeerFinder.option.name : "a name"
            throw arguments.commandError("a code and \(other) cannot be used together")
        }
        return address
    }

    /// Other ways to find the peer, and what a peer that proves a code is not asked.
    private static let contradictions = [
        "--manual", "--data", "--from", "--out", "--mesh", PeerAdvertiser.consent.name,
    ]

    /// Links with the peer, by hand or over discovery, and lets the users compare a code if requested, or says that the peer
    /// is not verified; in an exchange by hand, refuses a peer with another name than the expected one.
    func meet(expecting name: String? = nil) async throws(CommandError) -> PeerID {
        let peer: PeerID
        switch way {
        case .byHand(let exchange): peer = try await swap(exchange, expecting: name)
        case .connecting(let finder):
            peer = try await finder.link(session)
            if finder.proves(peer) {
                try await CommandError.translating { () async throws(MultipeerError) in
                    try await session.confirmID(of: peer)
                }
            }
        case .hosting(let advertiser): peer = try await advertiser.link(session)
        case .showingCode(let advertiser): peer = try await advertiser.link(session)
        case .choosing(let advertiser, let chooser): peer = try await chooser.link(session, or: advertiser)
        case .enteringCode(let finder): peer = try await finder.link(session)
        }
        if verification != nil {
            try await CodeComparison.compare(with: peer, in: session)
        } else {
            try await gate.pass(peer, in: session, asks: isSending && !hasAgreed, said: said(of: peer))
        }
        if let facts = await session.connectionInfo(for: peer) { introduce(peer, facts) }
        return peer
    }

    /// Whether `meet` can be called again once the peer has left: a code, connection data and a name that was looked for are for one.
    var canMeetAnother: Bool { if case .hosting = way { true } else { false } }

    /// Links with every peer that the user accepts, one question after the other, until the task is cancelled. Each has to be
    /// welcomed.
    func host() async throws(CommandError) {
        guard case .hosting(let advertiser) = way else { return }
        try await advertiser.admitAll(into: session)
    }

    /// Shows who a peer is that `host` has linked. Nothing of the peer is to be used before that.
    func welcome(_ peer: PeerID) async {
        guard let facts = await session.connectionInfo(for: peer) else {
            // What it has sent is there, but its link is over.
            if !isQuiet {
                Terminal.say(
                    "\(peer.displayName.printable) has left already; whether it was verified is unknown")
            }
            return
        }
        gate.note(peer, facts.verification, said: said(of: peer))
        introduce(peer, facts)
    }

    /// What a peer that was accepted has said it sends; nil when it has not.
    func offer(of peer: PeerID) -> OfferedFiles? {
        if case .hosting(let advertiser) = way { advertiser.offer(of: peer) } else { nil }
    }

    /// Whether the user was asked about the peer before the link, with the note that it is not verified.
    private var hasAgreed: Bool {
        if case .hosting(let advertiser) = way { advertiser.isAsking } else { false }
    }

    private func said(of peer: PeerID) -> String? {
        if case .hosting(let advertiser) = way { advertiser.said(of: peer) } else { nil }
    }

    private func swap(_ exchange: ManualExchange, expecting name: String?) async throws(CommandError)
        -> PeerID
    {
        let mine = try await CommandError.translating { () async throws(MultipeerError) in
            try await session.connectionData(mesh: isMesh)
        }
        state.withLock { $0.data = mine }
        try exchange.own.publish(mine)
        let theirs = try await exchange.obtain(within: session.configuration.connectTimeout)
        if let name, theirs.peer.displayName != name {
            throw CommandError(
                "this connection data is from \(theirs.peer.displayName.printable), not \(name.printable)",
                exit: .badInput)
        }
        try await connect(with: theirs)
        return theirs.peer
    }

    private func connect(with theirs: ConnectionData) async throws(CommandError) {
        do throws(MultipeerError) {
            try await session.connect(with: theirs)
        } catch {
            // Refused: the other side still has to read the local data to learn that it is.
            if error.reason?.code != .timedOut { state.withLock { $0.data = nil } }
            throw CommandError(error)
        }
    }

    private func introduce(_ peer: PeerID, _ facts: ConnectionInfo) {
        guard !isQuiet else { return }
        Terminal.say(
            "linked with \(peer.displayName.printable), \(facts.isEncrypted ? "encrypted" : "not encrypted")")
        guard isVerbose else { return }
        Terminal.say("peer id \(peer.uid.bytes.hexadecimal) at \(facts.remoteAddress)")
        let protection = [facts.cipherSuite, facts.keyExchange].compactMap { $0 }
        Terminal.say(
            "protected by \(protection.isEmpty ? "nothing" : protection.joined(separator: ", ")), "
                + facts.verification.words)
    }

    /// Answers a peer that wants to compare codes, which this side did not want. `mayAsk`: no other part of the command reads
    /// the terminal.
    func answerVerification(of peer: PeerID, mayAsk: Bool = true) async throws(CommandError) {
        guard verification == nil else { return }
        try await CodeComparison.answer(peer, in: session, mayAsk: mayAsk)
    }

    /// The same in a task of its own, for a command that goes on with its events meanwhile. `warn`: shows an error.
    func answerVerification(of peer: PeerID, warn: @escaping @Sendable (String) -> Void) {
        Task {
            do throws(CommandError) { try await answerVerification(of: peer) } catch { warn("\(error)") }
        }
    }

    /// Closes the session gracefully and cleans up, once; a second caller waits for the same end.
    func leave() async {
        let leaving = state.withLock { state in
            if let leaving = state.leaving { return leaving }
            let data = state.data
            let leaving = Task { [session, way] in
                switch way {
                case .byHand(let exchange):
                    await session.disconnect()
                    exchange.own.retract(data)
                case .connecting(let finder):
                    await session.disconnect()
                    await finder.stop()
                case .hosting(let advertiser):
                    await advertiser.stop()
                    await session.disconnect()
                case .showingCode(let advertiser):
                    await advertiser.stop()
                    await session.disconnect()
                case .choosing(let advertiser, let chooser):
                    await chooser.stop()
                    await advertiser.stop()
                    await session.disconnect()
                case .enteringCode(let finder):
                    await session.disconnect()
                    await finder.stop()
                }
            }
            state.leaving = leaving
            return leaving
        }
        await leaving.value
    }
}
