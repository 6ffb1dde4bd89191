import MultipeerSecurity

/// The application of a session, which the shim plays: the events that it receives, what it has not taken, and which
/// peers it trusts.
final class PeerApplication {
    private struct TrustQuestion: Hashable {
        let uid: [UInt8]
        let leaf: [UInt8]
    }

    private unowned let session: PeerSession
    /// The last state that it received for each peer.
    private(set) var told: [[UInt8]: String] = [:]
    /// Its answer for a leaf: nil until it answers.
    private var answers: [TrustQuestion: Bool?] = [:]
    /// Whether it takes no messages now.
    var isPaused = false
    /// Whether it reads no streams now.
    var isHolding = false
    /// Links that are over and have brought messages that it has not taken.
    private var former: [PeerLink] = []
    /// How many events about each peer it would have received since.
    private var unheard: [[UInt8]: UInt64] = [:]

    init(_ session: PeerSession) { self.session = session }

    private var bug: Bug? { session.bug }

    // MARK: Reporting

    func tell(_ event: String, _ fields: [String: JSONValue]) {
        session.peer.tell(
            fields.merging(["event": .string(event), "session": .string(session.handle)]) { $1 })
    }

    /// Reports changes of a peer's state, the same never twice in a row. Spec 14.1.
    func tell(_ state: String, of uid: [UInt8], reason: String? = nil, code: CloseCode? = nil) {
        guard told[uid] ?? "notConnected" != state else { return }
        if state == "connected", told[uid] != "connecting" { tell("connecting", of: uid) }
        told[uid] = state
        if isPaused { unheard[uid, default: 0] += 1 }
        var fields: [String: JSONValue] = ["peer": .string(uid.hex), "state": .string(state)]
        if let reason, bug != .reportsNoReason { fields["reason"] = .string(reason) }
        if let code { fields["code"] = .string(code.description) }
        tell("state", fields)
        if bug == .tellsStatesTwice, state == "notConnected" { tell("state", fields) }
    }

    func deliver(_ bytes: [UInt8], from uid: [UInt8], mode: String = "reliable") {
        var fields: [String: JSONValue] = [
            "from": .string(uid.hex), "mode": .string(mode), "size": .number(Double(bytes.count)),
            "sha256": .string(SHA256.hash(bytes).hex),
        ]
        if bytes.count <= 1_024 { fields["hex"] = .string(bytes.hex) }
        tell("message", fields)
    }

    // MARK: What is not taken

    /// Keeps a link that is over: what it has brought still waits.
    func keep(_ link: PeerLink) { former.append(link) }

    func takeFormer() {
        if isPaused { return }
        for link in former { link.inbox.deliver() }
        former = []
        unheard = [:]
    }

    /// Returns whether so much of a peer's data waits that it is not linked again. Spec 15.2.
    func isUnread(_ uid: [UInt8]) -> Bool {
        let events = unheard[uid] ?? 0
        let cost = former.filter { $0.uid == uid }.reduce(0) { $0 + $1.inbox.waitingCost }
        return bug != .relinksUnread && (events >= 64 || cost + 64 * events > session.limits.messageCredit)
    }

    // MARK: Trust

    /// Returns whether the application trusts a peer with this leaf. It is asked once, and answers as the shim was configured;
    /// nil is no answer.
    func trusts(_ uid: [UInt8], _ leaf: [UInt8], answering answer: String) -> Bool? {
        let question = TrustQuestion(uid: uid, leaf: leaf)
        if answers[question] == nil || bug == .asksTwice {
            answers[question] = .some(answer == "accept" ? true : answer == "reject" ? false : nil)
            tell(
                "certificate",
                ["peer": .string(uid.hex), "fingerprint": .string(SHA256.hash(leaf).hex)])
        }
        return answers[question] ?? nil
    }

    func forgetTrust() { answers = [:] }
}
