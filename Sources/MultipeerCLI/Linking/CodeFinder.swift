import MultipeerCommandLine
import MultipeerEssentials

/// Finds the peer that shows a one-time code, and links with it once both have proven the code.
final class CodeFinder: Sendable {
    private let code: InvitationCode
    private let role: PeerRole
    private let options: DiscoveryOptions
    /// Where the other side is, if the user gave that.
    private let address: PeerAddress?
    private let browser: Browser
    private let timeLimit: Duration
    private let timeout: Duration
    private let isQuiet: Bool
    private static let standardTimeLimit = 30

    /// `--timeout` sets how long to look for the other side, default 30 seconds, and how long the link may take.
    init(
        _ arguments: Arguments, _ code: InvitationCode, as peer: PeerID, _ role: PeerRole,
        at address: PeerAddress? = nil
    ) throws(CommandError) {
        self.address = address
        self.code = code
        self.role = role
        options = try DiscoveryOptions(arguments)
        let given = try arguments.number("--timeout", in: 1...600)
        timeLimit = .seconds(given ?? CodeFinder.standardTimeLimit)
        timeout = .seconds(given ?? SessionOptions.standardTimeLimit)
        isQuiet = arguments.has("--quiet")
        browser = Browser(peer: peer, service: options.service, configuration: options.configuration)
    }

    /// Returns the peer once it is linked.
    func link(_ session: Session) async throws(CommandError) -> PeerID {
        if let address {
            let addresses = try await address.addresses()
            if !isQuiet { Terminal.say("trying the code at \(address.text)") }
            return try await browser.invite(
                at: addresses, role.context, to: session, code: code, for: address, within: timeout)
        }
        do throws(MultipeerError) { try await browser.start() } catch { throw CommandError(searching: error) }
        DuplicateID.watch(browser)
        if !isQuiet { Terminal.say("looking for code number \(code.number) \(options.place)") }
        let found = try await find()
        let peer = found.peer
        // Nothing has been tried yet, so the code stays valid.
        guard let theirs = PeerRole(info: found.info), role.suits(theirs) else {
            throw mismatch(found)
        }
        do throws(MultipeerError) {
            try await browser.invite(peer, to: session, code: code, context: role.context, timeout: timeout)
        } catch {
            throw CommandError(inviting: peer.displayName, error)
        }
        await browser.stop()
        return peer
    }

    func stop() async { await browser.stop() }

    /// What a peer with the number says that it does is not what this command does. It has proven nothing.
    private func mismatch(_ found: DiscoveredPeer) -> CommandError {
        let theirs = PeerRole(info: found.info)
        let name = found.peer.displayName.printable
        let problem = "code number \(code.number) is announced by \(name), which"
        guard let theirs, let own = theirs.counterpart else {
            return CommandError(
                "\(problem) runs another program", hint: "check the number of the code", exit: .linkFailed)
        }
        let operands = theirs == .receive ? "FILE --code CODE" : "CODE"
        return CommandError(
            "\(problem) runs '\(Terminal.name) \(theirs.command)'",
            hint: "use '\(Terminal.name) \(own) \(operands)' here", exit: .linkFailed)
    }

    private func find() async throws(CommandError) -> DiscoveredPeer {
        let outcome = Promise<Result<DiscoveredPeer, MultipeerError>?>()
        let searching = Task { [browser, code] in
            do throws(MultipeerError) {
                outcome.send(.success(try await browser.peer(for: code)))
            } catch {
                outcome.send(.failure(error))
            }
        }
        let clock = Task { [timeLimit] in
            try await Task.sleep(for: timeLimit)
            outcome.send(nil)
        }
        let noting = Task { [self] in
            try await Task.sleep(for: PeerSearch.usualTime)
            await noteAbsence()
        }
        let result = await outcome.value()
        searching.cancel()
        clock.cancel()
        noting.cancel()
        guard let result else {
            let others = await others.map { ", but \($0)" } ?? ""
            throw CommandError(
                "no peer with code number \(code.number) was found \(options.place)\(others)",
                hint:
                    "check the number, and that the other command is still running; without multicast, add "
                    + "\(PeerFinder.option.name) ADDRESS of the other machine; '\(Terminal.name) doctor' says what is missing",
                exit: .linkFailed)
        }
        return try CommandError.translating { () throws(MultipeerError) in try result.get() }
    }

    /// Says that no one waits with this number. The search goes on, since the other side may be about to start.
    private func noteAbsence() async {
        guard !isQuiet else { return }
        let others = await others
        guard !Task.isCancelled else { return }
        let rest =
            others.map { ", but \($0): check the number" }
            ?? ": check the number, and that the other command is running"
        Terminal.say("no one waits with code number \(code.number) \(options.place) yet\(rest)")
    }

    /// How many peers that suit this command wait with other numbers, in words; nil if there are none. Anyone on the network can
    /// read their numbers, but to show them would invite this user to try the code on strangers, whose codes that would end.
    private var others: String? {
        get async {
            let count = await browser.peers.count { peer in
                guard let number = peer.codeNumber, let theirs = PeerRole(info: peer.info) else {
                    return false
                }
                return number != code.number && role.suits(theirs)
            }
            guard count > 0 else { return nil }
            return count == 1
                ? "1 peer waits with another number" : "\(count) peers wait with other numbers"
        }
    }
}
