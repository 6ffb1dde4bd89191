import Foundation
import Multipeer
import MultipeerCommandLine

/// Can be found by those who want to send files, and asks the user about each before anything comes in.
final class ReceiverAdvertiser: Sendable {
    static let consent = Usage.Option(
        "--yes", "take files from whoever asks first, without a question; --trust can say who that may be")

    private let options: DiscoveryOptions
    private let advertiser: Advertiser
    /// How long somebody may take to come; nil is for ever.
    private let patience: Duration?
    private let isAsking: Bool
    private let isQuiet: Bool
    private static let prompts = Worker("consent")

    /// Throws when nobody could be asked.
    init(_ arguments: Arguments, as peer: PeerID) throws(CommandError) {
        isAsking = !arguments.has(ReceiverAdvertiser.consent.name)
        guard !isAsking || Terminal.isThere else {
            throw CommandError(
                "there is no terminal on which to ask whose files to take",
                hint: "--yes takes those of whoever asks first; try '\(ReceiveCommand.usage.command) --help'",
                exit: .usage)
        }
        options = try DiscoveryOptions(arguments)
        patience = try arguments.number("--timeout", in: 1...600).map { .seconds($0) }
        isQuiet = arguments.has("--quiet")
        advertiser = try CommandError.translating { [options] () throws(MultipeerError) in
            try Advertiser(
                peer: peer, service: options.service.name, info: PeerRole.receive.info,
                configuration: options.configuration)
        }
    }

    /// Returns the peer that was let in, once it is linked.
    func link(_ session: Session) async throws(CommandError) -> PeerID {
        try await CommandError.translating { () async throws(MultipeerError) in try await advertiser.start() }
        if !isQuiet {
            Terminal.say("\(advertiser.peer.introduction) can be found \(options.place), waiting for files")
        }
        let waiting = Task { await self.admit(into: session) }
        let clock = Task { [patience] in
            guard let patience else { return }
            try await Task.sleep(for: patience)
            waiting.cancel()
        }
        let peer = await waiting.value
        clock.cancel()
        // Nobody else is let in, and those who wait are told at once.
        await advertiser.stop()
        guard let peer else {
            throw CommandError(
                "nobody came to send files", hint: "--timeout allows more time", exit: .linkFailed)
        }
        return peer
    }

    func stop() async { await advertiser.stop() }

    /// The first that may come in and does; nil when the task is cancelled.
    private func admit(into session: Session) async -> PeerID? {
        for await invitation in advertiser.invitations {
            let inviter = invitation.inviter
            guard let wish = PeerRole(context: invitation.context), case .send(let files) = wish,
                await agrees(to: inviter, files)
            else {
                // Whoever gave up hears nothing.
                try? await invitation.decline()
                continue
            }
            do throws(MultipeerError) {
                try await invitation.accept(into: session)
                return inviter
            } catch {
                if Task.isCancelled { return nil }
                Terminal.say("not linked with \(inviter.introduction): \(error.description.printable)")
            }
        }
        return nil
    }

    private func agrees(to inviter: PeerID, _ files: Int) async -> Bool {
        guard isAsking else { return true }
        let count = files == 1 ? "a file" : "\(files) files"
        let question = "\(inviter.introduction) wants to send \(count). take it? [y/N] "
        let answer = try? await ReceiverAdvertiser.prompts.run { () throws(CommandError) in
            try Terminal.ask(question)
        }
        return Terminal.isYes(answer ?? nil)
    }
}
