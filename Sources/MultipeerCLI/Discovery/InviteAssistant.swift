import MultipeerCommandLine
import MultipeerEssentials

/// `multipeer invite --wait`: advertises the peer, and asks on the terminal about each invitation, one after the other.
struct InviteAssistant: Sendable {
    private let own: InviteSession
    private let options: DiscoveryOptions
    private let advertiser: Advertiser
    private let output = Worker("output")
    private let prompts = Worker("prompts")
    private let isOver = Promise<CommandError?>()

    init(_ own: InviteSession, _ options: DiscoveryOptions) {
        self.own = own
        self.options = options
        var discovery = options.configuration
        discovery.sharedPort = own.port
        advertiser = Advertiser(
            peer: own.peer, service: options.service, identity: own.identity, configuration: discovery)
    }

    /// Stops advertising and disconnects gracefully, and waits until that is done.
    func leave() async {
        await advertiser.stop()
        await own.leave()
    }

    /// Runs until the time has elapsed.
    func run(for time: Duration?) async throws(CommandError) {
        try await CommandError.translating { () async throws(MultipeerError) in try await advertiser.start() }
        DuplicateID.watch(advertiser)
        Terminal.say("announcing \(own.peer.introduction) as \(options.service) \(options.place)")
        let tasks = [
            Task { await self.answer() },
            Task { await self.watch() },
            Task { [isOver] in
                if let time, (try? await Task.sleep(for: time)) != nil { isOver.send(nil) }
            },
        ]
        let commandError = await isOver.value()
        for task in tasks { task.cancel() }
        await leave()
        if let commandError { throw commandError }
    }

    /// Reports links; received data is discarded.
    private func watch() async {
        for await event in own.session.events {
            switch event {
            case .peer(let peer, .connected): await put(NearbyLine(.connected, nil, peer))
            case .peer(let peer, .notConnected): await put(NearbyLine(.notConnected, nil, peer))
            default: break
            }
        }
    }

    private func answer() async {
        for await invitation in advertiser.invitations where invitation.isOpen {
            guard await isWanted(invitation) else {
                // Fails if the inviter gave up; there is nothing to decline then.
                try? await invitation.decline()
                continue
            }
            do throws(MultipeerError) {
                try await invitation.accept(into: own.session)
            } catch {
                if !Task.isCancelled { await put(NearbyLine(.notConnected, nil, invitation.inviter)) }
            }
        }
    }

    /// Returns the user's answer, as long as it is expected.
    private func isWanted(_ invitation: Invitation) async -> Bool {
        let inviter = invitation.inviter.displayName.printable
        let withdrawal = Cancellation()
        let watching = Task {
            await invitation.waitUntilEnded()
            withdrawal.cancel()
        }
        defer { watching.cancel() }
        let contest = invitation.isContested ? " another peer claims to be the same one." : ""
        let question =
            "'\(inviter)' invites you ('\(own.peer.displayName.printable)', \(options.service)).\(contest) accept? [y/N] "
        do throws(CommandError) {
            let answer = try await prompts.run { () throws(CommandError) -> String? in
                try Terminal.checkForeground()
                return try Terminal.ask(question, unless: withdrawal)
            }
            return invitation.isOpen && Terminal.isYes(answer)
        } catch {
            Terminal.say("declined an invitation from '\(inviter)': \(error.text)")
            return false
        }
    }

    private func put(_ line: NearbyLine) async {
        do throws(CommandError) {
            try await output.run { () throws(CommandError) in try Terminal.put("\(line.text)\n") }
        } catch {
            isOver.send(error)
        }
    }
}
