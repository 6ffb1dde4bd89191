import MultipeerCommandLine
import MultipeerEssentials

/// Shows who receives on the network below a code, and lets the user choose. On a terminal with escape sequences the list is drawn
/// in place and keys count at once, on others its changes are lines, and a line is read.
final class ReceiverChooser: Sendable {
    private let role: PeerRole
    private let browser: Browser
    private let timeout: Duration
    private let isDrawn: Bool
    private let list: Locked<ReceiverList>
    /// The number of lines of the list on the terminal; nil once it is over.
    private let drawn = Locked<Int?>(0)
    private let reading = Worker("choice")
    private let cancellation = Cancellation()

    /// Returns nil when there is no one to ask: standard input or error is not a terminal, or the command is in the background.
    /// `reads`: whether standard input is to be sent.
    init?(
        _ arguments: Arguments, as own: SessionOptions, _ role: PeerRole, reads: Bool
    ) throws(CommandError) {
        let input = DescriptorStream.input
        guard !reads, !arguments.has("--quiet"), input.isTerminal, DescriptorStream.error.isTerminal,
            !input.isInBackground
        else { return nil }
        self.role = role
        isDrawn = Terminal.hasScreen(input) && Terminal.hasScreen(DescriptorStream.error)
        let options = try DiscoveryOptions(arguments)
        timeout = .seconds(
            try arguments.number("--timeout", in: 1...600) ?? SessionOptions.standardTimeLimit)
        list = Locked(
            ReceiverList(as: role, knowing: own.configuration.trustStore?.contents ?? TrustStore()))
        browser = Browser(peer: own.peer, service: options.service, configuration: options.configuration)
    }

    /// Returns the peer that has proven the code, or that was chosen: what comes first withdraws the other.
    func link(_ session: Session, or advertiser: CodeAdvertiser) async throws(CommandError) -> PeerID {
        try await advertiser.begin()
        let outcome = Promise<Result<(peer: PeerID, isChosen: Bool), CommandError>>()
        let proving = Task {
            do throws(CommandError) {
                outcome.send(.success((try await advertiser.peer(in: session), false)))
            } catch {
                if !advertiser.isWithdrawn { outcome.send(.failure(error)) }
            }
        }
        let choosing = Task {
            guard let peer = await choose(), advertiser.withdraw() else { return }
            outcome.send(.success((peer, true)))
        }
        let result = await outcome.value()
        finish()
        choosing.cancel()
        proving.cancel()
        let (peer, isChosen) = try result.get()
        if isChosen { try await invite(peer, to: session) }
        await browser.stop()
        return peer
    }

    func stop() async {
        finish()
        await browser.stop()
    }

    private func invite(_ peer: PeerID, to session: Session) async throws(CommandError) {
        Terminal.say("the code is no longer valid; waiting for \(peer.introduction) to accept")
        do throws(MultipeerError) {
            try await browser.invite(peer, to: session, context: role.context, timeout: timeout)
        } catch {
            throw CommandError(inviting: peer.displayName, error)
        }
    }

    /// Returns the receiver that the user chooses; nil when no one does.
    private func choose() async -> PeerID? {
        // The code is enough where this machine cannot browse: the advertiser has said so.
        guard (try? await browser.start()) != nil else { return nil }
        DuplicateID.watch(browser) { [weak self] in self?.warn($0) }
        let watching = Task {
            for await event in browser.events {
                guard let line = list.withLock({ $0.note(event) }) else { continue }
                if isDrawn { draw() } else { print(line) }
            }
        }
        defer { watching.cancel() }
        if isDrawn {
            // Unless the end came first, which gives the terminal back. In the background the command goes on with the code.
            Terminal.tellEveryKey {
                drawn.withLock { $0 != nil }
            } leave: { [self] isRemoving in
                leave(isRemoving)
            } draw: { [self] in
                draw()
            }
            draw()
        } else {
            print("or choose a receiver: type its number and Enter, or Enter alone for the only one")
        }
        do throws(CommandError) {
            return try await reading.run { [self] () throws(CommandError) in
                try isDrawn ? readKeys() : readLines()
            }
        } catch {
            finish()
            Terminal.warn("no receiver can be chosen: \(error.text); the code is valid as before")
            return nil
        }
    }

    private func readKeys() throws(CommandError) -> PeerID? {
        while let bytes = try DescriptorStream.input.readInForeground(64, unless: cancellation) {
            for byte in bytes {
                // Ctrl-Z, on a terminal that does not turn it into a signal.
                if byte == 0x1A { SignalHandler.suspend() }
                switch list.withLock({ $0.take(byte) }) {
                case .nothing: break
                case .changed: draw()
                case .chosen(let peer): return peer
                }
            }
        }
        return nil
    }

    private func readLines() throws(CommandError) -> PeerID? {
        while let line = try DescriptorStream.input.readLine(isWaiting: true, unless: cancellation) {
            if let peer = list.withLock({ $0.choice(line.filter { $0 != " " }) }) { return peer }
            print(line.isEmpty ? "type the number of a receiver" : "there is no '\(line.printable)'")
        }
        return nil
    }

    private func print(_ line: String) {
        drawn.withLock { if $0 != nil { Terminal.say(line) } }
    }

    /// Shows a line above the list.
    private func warn(_ text: String) {
        drawn.withLock { drawn in
            if let lines = drawn, isDrawn {
                Terminal.show(ReceiverChooser.erasure(lines))
                drawn = 0
            }
            Terminal.warn(text)
        }
        if isDrawn { draw() }
    }

    private func draw() {
        let (width, height) = Terminal.size(of: DescriptorStream.error)
        // The last column stays free: some terminals wrap to the next line after it.
        let lines = list.withLock { $0.lines(width: width - 1, height: height - 2) }
        drawn.withLock { drawn in
            guard let before = drawn, TerminalHold.isTaken else { return }
            Terminal.show(ReceiverChooser.erasure(before) + lines.map { "\($0)\n" }.joined())
            drawn = lines.count
        }
    }

    private static func erasure(_ lines: Int) -> String {
        (lines > 0 ? "\r\u{1b}[\(lines)A" : "") + "\u{1b}[J"
    }

    /// The list no longer is where it was.
    private func leave(_ isRemoving: Bool) {
        drawn.withLock { drawn in
            guard let lines = drawn else { return }
            if isRemoving { Terminal.show(ReceiverChooser.erasure(lines)) }
            drawn = 0
        }
    }

    /// Removes the list, and gives the terminal back.
    private func finish() {
        cancellation.cancel()
        let lines = drawn.withLock { drawn in
            defer { drawn = nil }
            return drawn
        }
        guard let lines, isDrawn else { return }
        if TerminalHold.isTaken { Terminal.show(ReceiverChooser.erasure(lines)) }
        Terminal.tellLines()
    }
}
