import MultipeerConnectivity

/// One application: a peer with a session, an advertiser and a browser, of all of which it is the delegate.
///
/// It records every call. What it does in one is up to the program, which sets a closure for that; the closures are
/// called before the event is recorded, on the queue of the call.
///
/// Unchecked: its state is guarded, except for what is only used on the main actor.
final class Application: NSObject, @unchecked Sendable {
    /// An invitation that the program has not answered in the call itself.
    struct Invitation {
        let peer: MCPeerID
        let context: Data?
        let answer: (Bool, MCSession?) -> Void
    }

    let role: Role
    let serviceType: String
    /// A folder of this application, which is empty at first.
    let folder: URL
    /// Whether the process was replaced by itself.
    let isRestarted: Bool
    let record = EventRecord()
    let channel: OutOfBandChannel

    /// The local peer, with the role as its name, unless the program sets another one before it uses what depends on
    /// it.
    @Guarded var peer: MCPeerID
    @Guarded private var parts = Parts()
    @Guarded private var kept: [AnyObject] = []
    @Guarded private(set) var hasFailed = false
    /// The peer that was connected last.
    @Guarded var lastConnected: MCPeerID?
    @Guarded private(set) var postedData: [String: [Data]] = [:]
    @Guarded var invitations: [Invitation] = []
    @Guarded var messages: [Data] = []
    /// The content of received resources, by their names.
    @Guarded var resources: [String: Data] = [:]

    @Guarded var onState: ((MCPeerID, MCSessionState) -> Void)?
    @Guarded var onData: ((Data, MCPeerID) -> Void)?
    @Guarded var onStream: ((InputStream, String, MCPeerID) -> Void)?
    @Guarded var onResourceStart: ((String, MCPeerID, Progress) -> Void)?
    @Guarded var onResourceEnd: ((String, URL?, (any Error)?) -> Void)?
    @Guarded var onCertificate: (([Any]?, MCPeerID, @escaping (Bool) -> Void) -> Void)?
    @Guarded var onInvitation: ((MCPeerID, Data?, @escaping (Bool, MCSession?) -> Void) -> Void)?
    @Guarded var onFound: ((MCPeerID, [String: String]?) -> Void)?

    private struct Parts {
        var session: MCSession?
        var advertiser: MCNearbyServiceAdvertiser?
        var browser: MCNearbyServiceBrowser?
    }

    init(_ role: Role, serviceType: String, folder: URL, isRestarted: Bool) throws {
        (self.role, self.serviceType, self.isRestarted) = (role, serviceType, isRestarted)
        self.folder = folder.appendingPathComponent(role.rawValue, isDirectory: true)
        peer = MCPeerID(displayName: role.rawValue)
        channel = try OutOfBandChannel(role, in: folder)
        super.init()
        channel.start { [weak self] name, data in self?.receive(name, data) }
    }
}

// MARK: its objects

extension Application {
    /// The session: by default without an identity, as `init(peer:)` makes one.
    var session: MCSession {
        get {
            if let session = parts.session { return session }
            let session = MCSession(peer: peer)
            session.delegate = self
            parts.session = session
            return session
        }
        set { parts.session = newValue }
    }

    /// The advertiser: by default without discovery info.
    var advertiser: MCNearbyServiceAdvertiser {
        get {
            if let advertiser = parts.advertiser { return advertiser }
            let advertiser = MCNearbyServiceAdvertiser(
                peer: peer, discoveryInfo: nil, serviceType: serviceType)
            advertiser.delegate = self
            parts.advertiser = advertiser
            return advertiser
        }
        set { parts.advertiser = newValue }
    }

    /// The browser.
    var browser: MCNearbyServiceBrowser {
        get {
            if let browser = parts.browser { return browser }
            let browser = MCNearbyServiceBrowser(peer: peer, serviceType: serviceType)
            browser.delegate = self
            parts.browser = browser
            return browser
        }
        set { parts.browser = newValue }
    }

    /// Keeps an object alive to the end of the program.
    func keep(_ object: AnyObject) { $kept.change { $0.append(object) } }

    /// Releases the session, the advertiser and the browser.
    func releaseAll() { parts = Parts() }

    /// Releases the session alone.
    func releaseSession() { parts.session = nil }

    /// Releases the advertiser alone.
    func releaseAdvertiser() { parts.advertiser = nil }
}

// MARK: expectations

extension Application {
    /// Records a failure, unless this is so.
    func expect(_ isSo: Bool, _ what: String, line: Int = #line) {
        if !isSo { fail("\(what), and it is not so", line) }
    }

    /// Records a failure, unless the value is the expected one.
    func expect<Value: Equatable>(_ value: Value, is expected: Value, _ what: String, line: Int = #line) {
        if value != expected { fail("\(what): \(value), and not \(expected)", line) }
    }

    /// Records a failure, unless the call throws an error with this code.
    func expect(_ code: MCError.Code, _ what: String, line: Int = #line, from call: () throws -> Void) {
        do {
            try call()
            fail("\(what): no error", line)
        } catch {
            expect((error as? MCError)?.code == code, "\(what): \(code), and not \(error)", line: line)
        }
    }

    /// Records a failure: the exit code will say so.
    func fail(_ text: String, _ line: Int = #line) {
        hasFailed = true
        EventRecord.write("FAILED, line \(line): \(text)")
    }

    /// Waits for an event with each of these texts, one after the other.
    func wait(_ texts: String...) async throws {
        for text in texts { try await record.wait(for: text, within: Application.timeout) }
    }

    /// The time for an event, which is long even on a busy machine.
    static let timeout: TimeInterval = 30

    /// Records an event of the program itself, such as the call of a handler.
    func note(_ text: String, _ error: (any Error)? = nil) {
        record.note(.program, text + (error.map { ": " + codeName(of: $0) } ?? ""))
    }

    /// Returns the events of the session's delegate so far.
    var sessionEvents: [String] { record.texts(of: .session) }

    /// These, without the certificates, which come with or after the state.
    var eventsWithoutCertificates: [String] { sessionEvents.filter { !$0.hasPrefix("certificate") } }
}

// MARK: the other application

extension Application {
    /// Sends a text as a reliable message.
    func say(_ text: String, to peers: MCPeerID...) throws {
        try session.send(Data(text.utf8), toPeers: peers, with: .reliable)
    }

    /// Tells the other application something, and passes data with it.
    func post(_ name: String, _ data: Data = Data()) { channel.send(name, data) }

    /// Waits until the other application has posted this, and returns its data.
    @discardableResult
    func posted(_ name: String) async throws -> Data {
        try await wait("posted \(name)")
        return postedData[name]?.last ?? Data()
    }

    /// Waits until both have come to this point.
    func meet(_ name: String) async throws {
        post(name)
        try await posted(name)
    }

    private func receive(_ name: String, _ data: Data) {
        if name == "failed" { return record.fail(Failure("the other application has failed")) }
        postedData[name, default: []].append(data)
        record.note(.program, "posted \(name)")
    }

    /// Waits for the end of the other application, unless one has failed, so that neither notices that the other one
    /// exits.
    func end() async {
        post(hasFailed ? "failed" : "ended")
        if !hasFailed {
            do { try await posted("ended") } catch { fail("\(error)") }
        }
        channel.flush()
    }

    /// Ends the process at once, as a crash does, without a goodbye.
    func crash() -> Never {
        post("ended")
        channel.flush()
        _exit(hasFailed ? 1 : 0)
    }

    /// Replaces the process by a new one of the same program and role: `isRestarted` is true there.
    func restart() throws -> Never {
        channel.flush()
        let words = CommandLine.arguments + ["restarted"]
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
        arguments.append(nil)
        execv("/proc/self/exe", arguments)
        throw Failure("cannot restart: \(errno)")
    }
}

/// Returns the code of an error of the framework as a word.
func codeName(of error: any Error) -> String {
    switch (error as? MCError)?.code {
    case .unknown: "unknown"
    case .notConnected: "notConnected"
    case .invalidParameter: "invalidParameter"
    case .unsupported: "unsupported"
    case .timedOut: "timedOut"
    case .cancelled: "cancelled"
    case .unavailable: "unavailable"
    case nil: "\(error)"
    @unknown default: "\(error)"
    }
}
