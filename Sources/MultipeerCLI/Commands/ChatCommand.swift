import MultipeerCommandLine
import MultipeerEssentials

/// `multipeer chat`: a room for a few people.
enum ChatCommand: Subcommand {
    static let room = Usage.Option(
        "--room", short: "r", "NAME", "link only with peers in the room NAME; default: \(PeerRole.lobby)"
    )

    private static let to = Usage.Option(
        PeerFinder.option.name, short: "t", "ADDRESS", isRepeatable: true,
        "join through the member at this IP address or host name, with its port if that is not \(PortOption.standard), "
            + "without multicast; ann#1f2e@192.0.2.1 is that member, or none")

    static let usage = Usage(
        ["chat"], operands: "[ROOM|CODE]", mostOperands: CodeOption.mostOperands,
        "chat in a room with up to 7 others",
        examples: """
              multipeer chat kitchen                  links with everyone in that room
              multipeer chat kitchen --code new       only those with its code can join
              multipeer chat kitchen --to 192.0.2.1   joins through a member there
            """,
        details: """
            Everyone on the network who is in the room of the same name is linked with everyone else in it; each link
            is direct and separately encrypted. Anyone on the network can join, under any name, unless the room has a
            code: --code new makes one, and then only those who have it can join, and peers that they introduce. It
            proves that a peer belongs to the room, not which member it is. /code NAME compares six digits with that
            peer, which rules out a man-in-the-middle; then its lines are marked [verified]. Without a terminal, nothing
            is sent to peers that are not verified, unless --unverified is given or the room has a code.

            Where multicast does not work, a new peer names a member with --to ADDRESS, and everyone else in the room then
            links with it. If no member can be reached, use --manual, --data, --from or --out: a new peer then exchanges
            connection data, one line of base64, with someone in the room. It contains a secret: use a channel that both
            trust. Data can also be added later, with /add DATA.

            A line goes to everyone. Messages go to standard output with the sender's name in front, everything else
            to standard error. Peers with the same name are shown with digits of their ids. A slow peer does not block
            the others: when its queue is full, lines to it are dropped, with a notice.

            On a terminal each line has the time, and each name a colour, unless the variable NO_COLOR is set. The arrows
            go through your earlier lines, which are never written to disk; Tab completes names after @, commands
            and the path after /send, and a second Tab lists them; other keys are those of a shell. What you paste is one line until you press
            Return. Characters that are invisible or control a terminal are shown as \\u{...}, except within emoji. In a
            locale without UTF-8 everything beyond ASCII is shown like that, on terminals only. Input:

            """ + RoomCommand.manual() + """


                Without a terminal, the first line waits until a peer is linked, for at most --timeout. By
                hand in three shells:
                  multipeer chat --name ann --out a.data --from b.data
                  multipeer chat --name bob --out b.data --from a.data --from c.data
                  multipeer chat --name cid --out c.data --from b.data
                """,
        options: [
            room, CodeOption.room, to, VerificationGate.option, ManualExchange.manual, QRPicture.option,
            .init(
                "--data", "@FILE", isRepeatable: true,
                "read a peer's connection data, one line of base64, from FILE"),
            .init(
                "--from", "FILE", isRepeatable: true,
                "read a peer's data from FILE once it exists and is complete; if linking fails, wait for other data in "
                    + "FILE"),
            .init(
                "--out", "FILE", "also write your connection data to FILE, mode 0600; removed at exit"),
            .init(
                "--peers", "N", "room size, 2 to 16; default: 8; must be the same for everyone"),
            .init(
                "--star",
                "do not introduce peers to each other: link only with those that are found, or whose data was exchanged"
            ),
            .init("--verbose", short: "v", "show how each link is protected"),
            .init("--quiet", short: "q", "print only errors; with --out, do not show your connection data"),
        ] + DiscoveryOptions.options + SessionOptions.options,
        common: ["--room", "--code", "--to", "--name", "--unverified", "--quiet"],
        exits: [.linkFailed, .badInput, .system, .interrupted])

    static func run(_ arguments: Arguments) async throws(CommandError) {
        try arguments.exclude(["--verbose", "--quiet"])
        var data: [ConnectionData] = []
        for text in arguments.values("--data") {
            data.append(
                try ConnectionDataInput.read(
                    ConnectionDataInput.decode(argument: text, isQuiet: arguments.has("--quiet"))))
        }
        let name = try CodeOption.operandOrOption(room.name, arguments) ?? PeerRole.lobby
        let isByHand = try ManualExchange.isWanted(arguments)
        if isByHand, !arguments.operands.isEmpty {
            throw arguments.commandError("connection data by hand has no ROOM and no CODE")
        }
        if isByHand, arguments.has(to.name) {
            throw arguments.commandError("connection data by hand and --to cannot be used together")
        }
        let screen = Screen(isQuiet: arguments.has("--quiet"))
        let questions = RoomPrompts(screen)
        let options = try SessionOptions(arguments) { await questions.ask($0) }
        var configuration = options.configuration
        configuration.topology = arguments.has("--star") ? .star : .mesh
        configuration.maximumPeers = try arguments.number("--peers", in: 2...16) ?? configuration.maximumPeers
        configuration.maximumMessageSize = 65_536
        configuration.maximumStreams = 16
        let session = try CommandError.translating { [configuration] () throws(MultipeerError) in
            try Session(peer: options.peer, configuration: configuration)
        }
        let code = try code(arguments)
        guard code != nil || isByHand || !arguments.has(QRPicture.option.name) else {
            throw arguments.commandError(
                "--qr shows the code of the room or connection data, and there is neither")
        }
        let finder = isByHand ? nil : try finder(name, arguments, code, options)
        let room = Room(
            session, screen, questions, own: LocalConnectionData(arguments), finder,
            isMesh: !arguments.has("--star"),
            isVerbose: arguments.has("--verbose"),
            acceptsUnverified: code != nil || arguments.has(VerificationGate.option.name)
                || TrustOption.asksAboutEveryPeer(arguments))
        SignalHandler.first { await room.leave() }
        do throws(CommandError) {
            try await room.run(connecting: data, from: arguments.values("--from"))
        } catch {
            await room.leave()
            throw error
        }
        await room.leave()
    }

    private static func code(_ arguments: Arguments) throws(CommandError) -> InvitationCode? {
        let isOperand = CodeOption.isOperand(arguments)
        guard let code = try CodeOption.read(arguments, takingOperands: isOperand, isRoom: true) else {
            return nil
        }
        try CodeOption.exclude(["--manual", "--data", "--from", "--out"], arguments)
        switch code {
        case .making(let code), .given(let code): return code
        }
    }

    private static func finder(
        _ name: String, _ arguments: Arguments, _ code: InvitationCode?, _ options: SessionOptions
    ) throws(CommandError) -> RoomDiscovery {
        var addresses: [PeerAddress] = []
        for text in arguments.values(to.name) {
            guard let address = try PeerAddress.read(text, takesNames: true, arguments) else {
                throw arguments.commandError(
                    "--to takes the address of a member, such as 192.0.2.1 or host.example, not '\(text)'")
            }
            addresses.append(address)
        }
        return try RoomDiscovery(name, code, DiscoveryOptions(arguments), as: options, at: addresses)
    }
}
