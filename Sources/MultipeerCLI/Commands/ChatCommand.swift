import Multipeer
import MultipeerCommandLine

/// `multipeer chat`: a room for a few people.
enum ChatCommand: Subcommand {
    private static let mostData = 15
    static let room = Usage.Option(
        "--room", "NAME", "link with those alone who are in the room of this name; default: \(PeerRole.lobby)"
    )

    static let usage = Usage(
        ["chat"], operands: "[DATA...]", mostOperands: mostData,
        "talk in a room with up to 7 others",
        details: """
            Everybody on the network who is in the room of the same name is linked with everybody else in it: each link
            is direct, and encrypted for itself. Whoever is there can come in, under any name; /code NAME compares six
            digits with somebody, which shows that nobody is in between.

            Where multicast does not get through, with --manual, or with DATA, --from or --out, whoever comes in swaps
            connection data instead, one line of base64, with somebody who is in the room, by a way that both trust: it
            holds a secret. Everybody else in the room then links with the new one. Data can also be given later, with
            /add DATA.

            A line goes to all. What the others say is on standard output with their names in front, everything else
            on standard error. Two of the same name get digits of their ids behind it. A peer that is slow holds up
            nobody: when too much waits for it, lines are dropped for it, and that is said. These can be typed:

            """ + RoomCommand.manual + """


                Where there is no terminal, the first line waits until somebody is linked, as long as --timeout
                says. On any number of machines, and by hand in three shells:
                  multipeer chat --name ann --room kitchen
                  multipeer chat --name ann --out a.data --from b.data
                  multipeer chat --name bob --out b.data --from a.data --from c.data
                  multipeer chat --name cid --out c.data --from b.data
                """,
        options: [
            room, ManualExchange.manual,
            .init(
                "--from", "FILE", isRepeatable: true,
                "take somebody's data from FILE as soon as it is there and whole; when it leads to nobody, wait for "
                    + "other data in it"),
            .init(
                "--out", "FILE", "write the own data to FILE too, mode 0600; it is removed in the end"),
            .init(
                "--peers", "N", "how many may be in the room, 2 to 16; default: 8; everybody gives the same"),
            .init("--star", "introduce nobody: link with those alone with whom data was swapped"),
            .init("--verbose", "say what protects each link"),
            .init("--quiet", "say nothing but errors; the own data is not shown when --out is given"),
        ] + DiscoveryOptions.options + SessionOptions.options,
        exits: [.linkFailed, .badInput, .system, .interrupted])

    static func run(_ arguments: Arguments) async throws(CommandError) {
        try arguments.exclude(["--verbose", "--quiet"])
        var data: [ConnectionData] = []
        for text in arguments.operands {
            data.append(try ConnectionDataInput.read(ConnectionDataInput.decode(text)))
        }
        let isByHand = try ManualExchange.isWanted(arguments, takingOperands: true)
        let screen = Screen(isQuiet: arguments.has("--quiet"))
        let questions = RoomPrompts(screen)
        let options = try SessionOptions(arguments) { await questions.ask($0) }
        var configuration = options.configuration
        configuration.topology = arguments.has("--star") ? .star : .mesh
        configuration.peers = try arguments.number("--peers", in: 2...16) ?? configuration.peers
        configuration.maxMessage = 65_536
        configuration.maxChannels = 16
        let session = try CommandError.translating { [configuration] () throws(MultipeerError) in
            try Session(peer: options.peer, configuration: configuration)
        }
        let finder = isByHand ? nil : try finder(arguments, as: options.peer)
        let room = Room(
            session, screen, questions, own: LocalConnectionData(arguments), finder,
            isMesh: !arguments.has("--star"),
            isVerbose: arguments.has("--verbose"))
        SignalHandler.first { await room.leave() }
        do throws(CommandError) {
            try await room.run(seeking: data, from: arguments.values("--from"))
        } catch {
            await room.leave()
            throw error
        }
        await room.leave()
    }

    private static func finder(_ arguments: Arguments, as peer: PeerID) throws(CommandError) -> RoomDiscovery
    {
        try RoomDiscovery(
            arguments.value(room.name) ?? PeerRole.lobby, DiscoveryOptions(arguments), as: peer)
    }
}
