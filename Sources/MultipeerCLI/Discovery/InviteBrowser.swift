import MultipeerCommandLine
import MultipeerEssentials

/// `multipeer invite`: shows the peers that advertise, and carries out typed commands.
actor InviteBrowser {
    private let own: InviteSession
    private let options: DiscoveryOptions
    private let browser: Browser
    /// How many peers are needed, and how many there can be, including this one.
    private let least: Int
    private let most: Int
    private let screen = Screen(isQuiet: false)
    private let isOver = Promise<CommandError?>()
    private let (lines, queue) = AsyncStream<String>.makeStream()
    private var list = InviteList()

    init(_ own: InviteSession, _ options: DiscoveryOptions, least: Int, most: Int) {
        (self.own, self.options, self.least, self.most) = (own, options, least, most)
        browser = Browser(peer: own.peer, service: options.service, configuration: options.configuration)
    }

    /// Runs until the user is done, or cancels, which is an error.
    func run(for time: Duration?) async throws(CommandError) {
        try await CommandError.translating { () async throws(MultipeerError) in try await browser.start() }
        screen.begin()
        DuplicateID.watch(browser) { [screen] in screen.tell($0) }
        if screen.isTerminal {
            screen.note(
                "you are \(own.peer.introduction), looking for \(options.service) \(options.place); type a number or "
                    + "a name to invite, 'list', 'done' or 'cancel'")
        }
        let tasks = [
            Task { await self.write() }, Task { await self.read() }, Task { await self.browse() },
            Task { await self.watch() },
            Task { [isOver] in
                if let time, (try? await Task.sleep(for: time)) != nil {
                    isOver.send(CommandError("timed out", exit: .linkFailed))
                }
            },
        ]
        let commandError = await isOver.value()
        for task in tasks { task.cancel() }
        await browser.stop()
        screen.end()
        await own.leave()
        if let commandError { throw commandError }
    }

    // MARK: input

    private func read() async {
        do throws(CommandError) {
            while let line = try await screen.next() {
                guard case .text(let text) = line else {
                    screen.tell("a line has at most \(EditedLine.longest) bytes; this one was ignored")
                    continue
                }
                obey(text.withoutSpacesAround)
            }
            if canFinish { isOver.send(nil) } else { cancel() }
        } catch {
            isOver.send(error)
        }
    }

    private func obey(_ text: String) {
        switch text {
        case "": break
        case "list", "l": showAll()
        case "cancel", "c": cancel()
        case "done", "d":
            guard !canFinish else {
                isOver.send(nil)
                return
            }
            screen.tell("connect to at least one more peer first (minimum: \(least), including this one)")
        default: invite(text)
        }
    }

    private var canFinish: Bool { list.connected + 1 >= least }

    private func cancel() { isOver.send(CommandError("cancelled", exit: .linkFailed)) }

    private func invite(_ text: String) {
        let meant: [PeerID]
        if let number = Int(text) {
            meant = list.rows.filter { $0.number == number }.map(\.peer)
        } else {
            meant = PeerSelector(text)?.matches(list.rows.map(\.peer)) ?? []
        }
        guard let peer = meant.first else { return screen.tell("no peer '\(text.printable)' found") }
        guard meant.count == 1 else {
            return screen.tell(
                "'\(text.printable)' can be any of \(meant.count) peers; choose one by its number")
        }
        guard list.takenPlaces + 1 < most else {
            return screen.tell("there are already \(most) peers, including this one")
        }
        guard let lines = list.invite(peer) else {
            return screen.tell("\(peer.introduction) cannot be invited now")
        }
        put(lines)
        Task {
            do throws(MultipeerError) {
                try await browser.invite(peer, to: own.session)
            } catch {
                put(list.change(peer, .notConnected))
            }
        }
    }

    // MARK: output

    private func browse() async {
        for await event in browser.events {
            switch event {
            case .found(let found), .updated(let found): put(list.add(found.peer, found.info))
            case .lost(let peer): put(list.lose(peer))
            }
        }
        guard !Task.isCancelled else { return }
        isOver.send(
            CommandError("discovery has ended", hint: "run 'multipeer doctor' to diagnose", exit: .system))
    }

    /// Reports links; received data is discarded.
    private func watch() async {
        for await event in own.session.events {
            switch event {
            case .peer(let peer, .connecting): put(list.change(peer, .invited))
            case .peer(let peer, .connected): put(list.change(peer, .connected))
            case .peer(let peer, .notConnected): put(list.change(peer, .notConnected))
            default: break
            }
        }
    }

    private func showAll() {
        if list.rows.isEmpty { screen.tell("no peers found") }
        put(list.rows.map { NearbyLine($0.event, $0.number, $0.peer, info: $0.info) })
    }

    private func put(_ lines: [NearbyLine]) {
        for line in lines {
            if screen.isTerminal { screen.tell(line.sentence) } else { queue.yield("\(line.text)\n") }
        }
    }

    /// A slow reader of standard output delays only this output.
    private func write() async {
        for await line in lines {
            do throws(CommandError) { try await screen.put(line) } catch { isOver.send(error) }
        }
    }
}
