import MultipeerCommandLine
import MultipeerEssentials

/// Prints the events of `multipeer browse`.
actor BrowsePrinter {
    enum Style: Sendable {
        case table, lines, json
    }

    private static let timeLimit = Duration.seconds(3)
    private static let pace = Duration.seconds(1)

    private let options: DiscoveryOptions
    private let style: Style
    /// The backend that resolves addresses; nil when none were requested.
    private let backend: (any DiscoveryBackend)?
    private let browser: Browser
    private let output = Worker("output")
    private let start = ContinuousClock.now
    private var table = PeerTable()
    /// The events that wait for addresses before they are printed.
    private var waiting: [PeerID: (event: BrowseLine.Event, peer: DiscoveredPeer)] = [:]
    /// The number of lines of the table on the terminal.
    private var drawn = 0
    private var isOver = false
    private let outcome = Promise<CommandError?>()

    init(_ options: DiscoveryOptions, _ style: Style, isResolving: Bool) throws(CommandError) {
        self.options = options
        self.style = style
        let configuration = options.configuration
        backend = try CommandError.translating { () throws(MultipeerError) in
            isResolving ? try configuration.chosenBackend() : nil
        }
        browser = Browser(
            peer: try SessionOptions.temporaryPeer(), service: options.service, configuration: configuration)
    }

    /// Runs until it is ended, or the time has elapsed.
    func run(for time: Duration?) async throws(CommandError) {
        try await CommandError.translating { () async throws(MultipeerError) in try await browser.start() }
        if style == .table { try await draw() }
        var tasks = [Task { await self.watch() }]
        if let time {
            tasks.append(
                Task { [outcome] in
                    try? await Task.sleep(for: time)
                    outcome.send(nil)
                })
        }
        if style == .table { tasks.append(Task { await self.redraw() }) }
        let commandError = await outcome.value()
        for task in tasks { task.cancel() }
        if let commandError { throw commandError }
    }

    private func watch() async {
        do throws(CommandError) {
            for await event in browser.events where !isOver { try await note(event) }
            outcome.send(nil)
        } catch {
            outcome.send(error)
        }
    }

    /// Stops browsing and printing.
    func end() async {
        isOver = true
        await browser.stop()
    }

    private var time: Duration { start.duration(to: .now) }

    private func note(_ event: DiscoveredPeer.Event) async throws(CommandError) {
        switch event {
        case .found(let peer): try await see(.found, peer)
        case .updated(let peer): try await see(.updated, peer)
        case .lost(let peer):
            table.remove(peer)
            if let late = waiting.removeValue(forKey: peer) { try await tell(late.event, late.peer, []) }
            try await put(BrowseLine(.lost, peer, at: time))
        }
    }

    private func see(_ event: BrowseLine.Event, _ peer: DiscoveredPeer) async throws(CommandError) {
        table.add(peer, at: time)
        guard let backend else { return try await tell(event, peer, nil) }
        if style == .table { try await draw() }
        let isWaiting = waiting[peer.peer] != nil
        waiting[peer.peer] = (waiting[peer.peer]?.event ?? event, peer)
        if !isWaiting { Task { await self.resolve(peer.peer, backend) } }
    }

    private func resolve(_ peer: PeerID, _ backend: any DiscoveryBackend) async {
        let addresses =
            (try? await backend.resolve(peer, options.service, within: BrowsePrinter.timeLimit)) ?? []
        guard !isOver, let late = waiting.removeValue(forKey: peer) else { return }
        table.resolve(peer, addresses)
        do throws(CommandError) {
            try await tell(late.event, late.peer, addresses)
        } catch {
            outcome.send(error)
        }
    }

    private func tell(
        _ event: BrowseLine.Event, _ peer: DiscoveredPeer, _ addresses: [SocketAddress]?
    ) async throws(CommandError) {
        try await put(BrowseLine(event, peer.peer, info: peer.info, addresses: addresses, at: time))
    }

    private func put(_ line: BrowseLine) async throws(CommandError) {
        switch style {
        case .table: try await draw()
        case .lines: try await write("\(line.text)\n")
        case .json: try await write(String(decoding: JSON.encode(line, isPretty: false), as: UTF8.self))
        }
    }

    private func redraw() async {
        while !isOver {
            // Ends at once when the task is cancelled.
            guard (try? await Task.sleep(for: BrowsePrinter.pace)) != nil else { return }
            if table.count > 0 { try? await draw() }
        }
    }

    private func draw() async throws(CommandError) {
        let (width, height) = Terminal.size(of: DescriptorStream.output)
        let head =
            "\(table.count == 1 ? "1 peer" : "\(table.count) peers") of type \(options.service) \(options.place)"
        // The last column stays free: some terminals wrap to the next line after it.
        let rows = table.count > 0 ? table.lines(at: time, width: width - 1, height: height - 3) : []
        let lines = [head.fitted(to: width - 1)] + rows
        let back = drawn > 0 ? "\r\u{1b}[\(drawn)A" : ""
        drawn = lines.count
        try await write(back + "\u{1b}[J" + lines.map { "\($0)\n" }.joined())
    }

    private func write(_ text: String) async throws(CommandError) {
        try await output.run { () throws(CommandError) in try Terminal.put(text) }
    }
}
