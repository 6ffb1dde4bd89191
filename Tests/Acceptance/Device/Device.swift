import MultipeerConnectivity

/// One device: its objects, the peers that it knows, and how it answers. Delegates are called on other threads than
/// commands.
final class Device: NSObject {
    /// The mutable state, under one lock, which is never held during a call of the framework.
    struct State {
        var me: MCPeerID?
        /// The peers that it knows, by name and by mark; of several with one name, the last.
        var peers: [String: MCPeerID] = [:]
        var session: MCSession?
        var advertiser: MCNearbyServiceAdvertiser?
        var browser: MCNearbyServiceBrowser?
        var assistant: MCAdvertiserAssistant?
        /// A text to send to each peer from inside the delegate call that reports it as connected.
        var greeting: String?
        var certificates = CertificateAnswer.yes
        var answer = InvitationAnswer.never
        /// The timeout for inviting every peer that it finds.
        var invites: TimeInterval?
        /// Unanswered invitations, by the marks of their inviters.
        var invitations: [String: (Bool, MCSession?) -> Void] = [:]
        var certificateHandlers: [String: (Bool) -> Void] = [:]
        /// Files in flight, by name.
        var transfers: [String: Progress] = [:]
        /// How incoming streams are read.
        var reading = Reading.loop
        /// Semaphores that let a waiting reader continue.
        var readers: [String: DispatchSemaphore] = [:]
        /// The object whose `start…` has not returned.
        var starting: ObjectIdentifier?
        /// The objects whose delegate is being called.
        var callers: Set<ObjectIdentifier> = []
    }

    /// The queue of calls about discovery: Apple's is the main one, which runs only in a program with a run loop.
    let discoveryQueue: DispatchQueue? = CommandLine.arguments.contains("--run-loop") ? .main : nil
    private let lock = NSLock()
    private var state = State()
    /// Shows whether a released session is gone.
    weak var formerSession: MCSession?

    func with<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&state)
    }

    /// Executes a line, and reports the result.
    func obey(_ line: String) {
        let words = line.split(separator: " ").map { $0.removingPercentEncoding ?? String($0) }
        guard let order = words.first else { return }
        let areas = [identity, sessionOrder, nearby, assistant, payload, manual]
        do {
            for area in areas {
                if let answer = try area(order, Words(words.dropFirst())) {
                    return tell("did", answer.merging(["order": order]) { old, _ in old })
                }
            }
            throw Complaint("unknown command '\(order)'")
        } catch {
            tell("refused", fields(of: error).merging(["order": order]) { old, _ in old })
        }
    }

    func end() {
        let last = with { state in
            defer { state = State() }
            return state
        }
        last.assistant?.stop()
        last.advertiser?.stopAdvertisingPeer()
        last.browser?.stopBrowsingForPeers()
        last.session?.disconnect()
    }

    // MARK: known peers

    /// Records a peer, and returns what to report of it, including whether it is the same object as before.
    func note(_ peer: MCPeerID) -> Fields {
        let known = with { state in
            defer { (state.peers[peer.mark], state.peers[peer.displayName]) = (peer, peer) }
            return state.peers[peer.mark]
        }
        let isSame = known.map { $0 == peer && $0.isEqual(peer) && $0.hashValue == peer.hashValue } ?? true
        return ["peer": peer.displayName, "id": peer.mark, "same": isSame]
    }

    func peer(_ word: String) throws -> MCPeerID {
        guard let peer = with({ $0.peers[word] }) else { throw Complaint("unknown peer '\(word)'") }
        return peer
    }

    var me: MCPeerID {
        get throws {
            guard let me = with({ $0.me }) else { throw Complaint("no peer id yet: use 'peer NAME'") }
            return me
        }
    }

    var session: MCSession {
        get throws {
            guard let session = with({ $0.session }) else { throw Complaint("there is no session") }
            return session
        }
    }

    /// Reports a delegate call, and whether another call of the same object was in progress.
    func heard(_ event: String, _ caller: AnyObject, _ fields: () -> Fields) {
        let isAlone = with { $0.callers.insert(ObjectIdentifier(caller)).inserted }
        var fields = fields()
        if !isAlone { fields["overlapping"] = true }
        if with({ $0.starting == ObjectIdentifier(caller) }) { fields["early"] = true }
        tell(event, fields)
        if isAlone { with { _ = $0.callers.remove(ObjectIdentifier(caller)) } }
    }
}

/// The words after a command.
struct Words {
    private let words: [String]

    init(_ words: ArraySlice<String>) { self.words = Array(words) }

    subscript(index: Int) -> String? { words.indices.contains(index) ? words[index] : nil }

    func dropFirst(_ count: Int) -> [String] { Array(words.dropFirst(count)) }

    func needed(_ index: Int, _ what: String) throws -> String {
        guard let word = self[index] else { throw Complaint("\(what) is missing") }
        return word
    }

    func number(_ index: Int, _ what: String) throws -> Int {
        guard let number = Int(try needed(index, what)) else { throw Complaint("\(what) is not a number") }
        return number
    }

    /// Returns the choice whose raw value a word is; nil when it is missing.
    func choice<Choice: RawRepresentable<String>>(_ index: Int, _: Choice.Type) throws -> Choice {
        let word = try needed(index, "a \(Choice.self)")
        guard let choice = Choice(rawValue: word) else { throw Complaint("\(word) is not a \(Choice.self)") }
        return choice
    }
}
