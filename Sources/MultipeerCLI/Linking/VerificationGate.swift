import MultipeerCommandLine
import MultipeerEssentials

/// Says who is at the other end before anything is sent: an unverified peer is never used without a word.
struct VerificationGate: Sendable {
    static let option = Usage.Option(
        "--unverified", short: "u", "go on with a peer that is not verified, without asking")

    /// Whether the user has accepted a peer that is not verified.
    private let isAccepted: Bool
    private let isQuiet: Bool
    /// Whether something but a terminal, or what is remembered, may verify a peer.
    private let mayBeVerified: Bool
    /// What was remembered before the link.
    private let store: TrustStore.File?
    private let remembered: TrustStore
    private static let prompts = Worker("gate")

    init(_ arguments: Arguments, _ configuration: Session.Configuration) {
        isAccepted =
            arguments.has(VerificationGate.option.name) || TrustOption.asksAboutEveryPeer(arguments)
        isQuiet = arguments.has("--quiet")
        mayBeVerified = TrustOption.mayVerify(arguments) || arguments.has(CodeComparison.option.name)
        store = configuration.trustStore
        remembered = configuration.trustStore?.contents ?? TrustStore()
    }

    /// Returns whether `pass` will refuse the peer, which has not proven an id, once it is linked: without a terminal no one can accept
    /// it. Nil for a peer of which only the address is known. So what would be sent is not named to it before, either.
    func refusesForCertain(_ peer: PeerID?) -> Bool {
        let isKnown = peer.map { remembered[$0.uid] != nil } ?? !remembered.entries.isEmpty
        return !isAccepted && !mayBeVerified && !isKnown && !Terminal.isThere
    }

    /// Shows how the peer is verified. `asks`: something is going to be sent, so that an unverified peer is a question, or an
    /// error without a terminal.
    /// `said`: what the user has read about it.
    func pass(
        _ peer: PeerID, in session: Session, asks: Bool, said: String? = nil
    ) async throws(CommandError) {
        guard let info = await session.connectionInfo(for: peer) else { return }
        let verification = info.verification
        guard asks, !isAccepted, !isTrusted(verification) else {
            return note(peer, verification, said: said)
        }
        let name = peer.displayName.printable
        let line = warning(peer, verification)
        guard Terminal.isThere else {
            throw CommandError(
                "\(line); nothing was sent", hint: "use --verify on a terminal, or --unverified to go on",
                exit: .linkFailed)
        }
        let canCompare = info.isEncrypted
        let choices = canCompare ? "[y/N, or v to compare a code]" : "[y/N]"
        let answer: String?
        do throws(CommandError) {
            answer = try await VerificationGate.prompts.run { () throws(CommandError) in
                try Terminal.ask("\(line)\ngo on? \(choices) ")
            }
        } catch {
            forget(peer)
            throw CommandError(
                "\(name) is not verified; nothing was sent: \(error.text)", hint: error.hint,
                exit: .linkFailed)
        }
        if canCompare, Terminal.isOne(of: ["v", "verify"], answer) {
            return try await CodeComparison.compare(with: peer, in: session)
        }
        guard Terminal.isYes(answer) else {
            forget(peer)
            throw CommandError("\(name) is not verified; nothing was sent", exit: .linkFailed)
        }
    }

    /// Trust on first use has remembered the peer before the question.
    private func forget(_ peer: PeerID) {
        guard remembered[peer.uid] == nil, store?.contents[peer.uid]?.verifiedBy == nil else { return }
        do { try store?.forget(peer.uid) } catch {
            Terminal.warn("the key of \(peer.displayName.printable) is still remembered: \(error)")
        }
    }

    /// Shows how the peer is verified, without a question, unless the user has read that.
    func note(_ peer: PeerID, _ verification: PeerVerification, said: String? = nil) {
        let text = text(peer, verification)
        if !isQuiet, text != said { Terminal.say(text) }
    }

    /// Returns what is known of a peer that was found on the network, before there is a link. One with a keyed id has proven it.
    func text(inviter: PeerID) -> String {
        let known = (store?.contents ?? remembered)[inviter.uid]
        return text(
            inviter,
            inviter.uid.isKeyed ? known?.verification ?? .unverified(.network) : .unverified(.network))
    }

    private func text(_ peer: PeerID, _ verification: PeerVerification) -> String {
        guard isTrusted(verification) else { return warning(peer, verification) }
        var verb = " is"
        if case .knownKey = verification { verb = ":" }
        return "\(peer.displayName.printable)\(verb) \(verification.words)"
    }

    private func warning(_ peer: PeerID, _ verification: PeerVerification) -> String {
        "\(peer.displayName.printable) is not verified: \(reason(verification, of: peer))"
    }

    /// A key that is known needs no question, like a known host of ssh.
    private func isTrusted(_ verification: PeerVerification) -> Bool {
        if case .knownKey = verification { true } else { verification.isVerified }
    }

    private func reason(_ verification: PeerVerification, of peer: PeerID) -> String {
        guard case .unverified(let origin) = verification else { return "\(verification)" }
        let isFirst =
            remembered[peer.uid] == nil && remembered.entries(named: peer.displayName).isEmpty
        return "\(origin)\(isFirst ? "; first contact" : "")"
    }
}

extension PeerVerification {
    /// The description, for a sentence about a peer. The subject of a certificate is text of the authority.
    package var words: String { "\(self)".printable }
}
