import MultipeerCommandLine
import MultipeerEssentials

/// A room: all peers linked with this session, and their messages.
actor Room {
    let session: Session
    let screen: Screen
    let isMesh: Bool
    let files = Worker("files")
    let isVerbose: Bool
    /// Whether a script sends to peers that are not verified.
    let acceptsUnverified: Bool
    /// Nil when data is exchanged only by hand.
    let finder: RoomDiscovery?
    let own: LocalConnectionData
    private let questions: RoomPrompts
    var data: ConnectionData?

    var members: RoomMembers
    var offers = RoomOffers()
    var neighbours = DiscoveredRoomPeers()
    var arrival = RoomOccupancy()
    /// The members that were reached at an address, and the address.
    var entrances: [PeerID: PeerAddress] = [:]
    var codeAttempts = CodeAttempts()
    var hasNotedOtherCode = false
    let startTime = ContinuousClock.now
    /// The tasks that run until the session leaves the room.
    var tasks: [Task<Void, Never>] = []
    var isLeaving = false
    private var leaving: Task<Void, Never>?
    private let outcome = Promise<CommandError?>()
    private static let timeLimit = Duration.seconds(2)

    init(
        _ session: Session, _ screen: Screen, _ questions: RoomPrompts, own: LocalConnectionData,
        _ finder: RoomDiscovery?,
        isMesh: Bool, isVerbose: Bool, acceptsUnverified: Bool
    ) {
        self.session = session
        self.screen = screen
        self.questions = questions
        self.own = own
        self.finder = finder
        self.isMesh = isMesh
        self.isVerbose = isVerbose
        self.acceptsUnverified = acceptsUnverified
        members = RoomMembers(own: session.peer)
    }

    /// Runs until the user quits, or the input ends.
    func run(connecting data: [ConnectionData], from paths: [String]) async throws(CommandError) {
        screen.begin()
        if let finder {
            // It runs as long as the room.
            arrival.searchesBegan(1)
            try await open(finder)
        } else {
            try await publish()
            arrival.searchesBegan(data.count + paths.count)
        }
        let connecting = data.map { one in Task { await self.search { await self.connect(one) } } }
        let watching = paths.map { path in Task { await self.search { await self.watch(path) } } }
        let listening = Task { await settle { () throws(CommandError) in try await self.listen() } }
        // The read of standard input cannot be stopped, and the process ends anyway.
        Task { await settle { () throws(CommandError) in try await self.read() } }
        let commandError = await outcome.value()
        for task in connecting + watching + tasks { task.cancel() }
        neighbours.cancelInvitations()
        if commandError == nil { await drain() }
        isLeaving = true
        listening.cancel()
        if let commandError { throw commandError }
    }

    private func settle(_ body: () async throws(CommandError) -> Void) async {
        do throws(CommandError) {
            try await body()
            outcome.send(nil)
        } catch {
            outcome.send(error)
        }
    }

    func publish() async throws(CommandError) {
        let mine = try await CommandError.translating { () async throws(MultipeerError) in
            try await session.connectionData(mesh: isMesh)
        }
        data = mine
        guard screen.isTerminal else { return try own.publish(mine, to: "the others") }
        try own.write(mine)
        screen.note("send this to the others only: it contains a secret")
        let line = Base64.encode(mine.bytes)
        if !own.isQuiet || own.out == nil { screen.show("\(line)\n") }
        if own.showsQR { screen.show(QRPicture.lines(for: line)) }
    }

    /// Closes the session gracefully and cleans up, once; a second caller waits for the same end.
    func leave() async {
        if let leaving { return await leaving.value }
        isLeaving = true
        for peer in members.linked { nameUnconfirmed(to: peer) }
        screen.end()
        let task = Task {
            await self.abandonFiles()
            async let isGone: Void? = self.finder?.stop()
            await self.session.disconnect()
            _ = await isGone
            self.own.retract(self.data)
        }
        leaving = task
        await task.value
    }

    /// Waits until all lines have been handed to the links, and the peers have confirmed them.
    private func drain() async {
        let deadline = ContinuousClock.now + Room.timeLimit
        while !(members.areIdle && members.areConfirmed), .now < deadline {
            try? await Task.sleep(for: .milliseconds(5))
        }
    }

    // MARK: input

    private func read() async throws(CommandError) {
        var hasWaited = screen.isTerminal
        while let line = try await screen.next() {
            guard case .text(let text) = line else {
                screen.tell("a line has at most \(EditedLine.longest) bytes; this one was not sent")
                continue
            }
            let order = RoomCommand(text)
            if order == .quit { return }
            if order.needsSomebody, !hasWaited {
                await waitForSomebody()
                hasWaited = true
            }
            try await obey(order)
        }
        if screen.isTerminal { return }
        if let commandError = arrival.commandError(isPublic: finder != nil) { throw commandError }
    }

    /// A program's first lines come before any peer can be linked.
    private func waitForSomebody() async {
        guard arrival.isPending else { return }
        await arrival.wait(atMost: session.configuration.connectTimeout)
        arrival.waitEnded()
    }

    /// Runs a search that was counted when it began; `body` returns whether it led to a link.
    func search(_ body: () async -> Bool) async {
        let isLinked = await body()
        arrival.searchEnded(isLinked: isLinked)
    }

    private func obey(_ order: RoomCommand) async throws(CommandError) {
        switch order {
        case .nothing, .quit: break
        case .say(let text): say(text)
        case .whisper(let text): whisper(text)
        case .add(let text): add(text)
        case .send(let text): offer(text)
        case .accept(let number, let directory): accept(number, into: directory ?? ".")
        case .decline(let number): decline(number)
        case .code(let text): await compare(text)
        case .trust(let isTrusted): questions.answer(isTrusted)
        case .who: await describe()
        case .data:
            if finder?.code == nil { try await publish() } else { screen.tell(Room.codeIsNeeded) }
        case .help: screen.tell(RoomCommand.manual(width: screen.widthOfNotes))
        case .wrong(let text): screen.tell(text)
        }
    }
}
