import Foundation
import Multipeer
import MultipeerHistory
import MultipeerOrders

/// One member of a mesh that sends to all others and records what it does and sees.
actor Member {
    struct Options: Sendable {
        var name = "member"
        /// The uid of the peer; a new peer when nil.
        var uid: UID?
        var folder = FileManager.default.temporaryDirectory
        var history = ""
        var configuration = Session.Configuration()
        /// Messages to each peer in a second.
        var rate = 0.0
        /// Files to some peer in a second.
        var files = 0.0
    }

    nonisolated let peer: PeerID
    nonisolated let options: Options
    private nonisolated let history: HistoryFile

    private(set) var session: Session?
    private var instance = ""
    private(set) var linked: Set<PeerID> = []
    private(set) var isLeaving = false
    private(set) var isOver = false
    private var attempts = 0
    private var talks: [PeerID: Task<Void, Never>] = [:]
    private var errands: [Int: Task<Void, Never>] = [:]
    private var lastErrand = 0
    private var ear: Task<Void, Never>?

    var rate: Double
    var files: Double
    var lastNumber: [PeerID: UInt64] = [:]
    var lastSent: [PeerID: UInt64] = [:]
    var lastFile = 0

    init(_ options: Options) throws {
        self.options = options
        (rate, files) = (options.rate, options.files)
        peer =
            if let uid = options.uid { try PeerID(uid: uid, displayName: options.name) } else {
                try PeerID(displayName: options.name)
            }
        history = try HistoryFile(path: options.history)
    }

    /// The file with its connection data for others.
    nonisolated var dataFile: URL { options.folder.appending(path: options.name + ".data") }

    nonisolated func log(
        _ event: Entry.Event, _ peer: PeerID? = nil, _ change: (inout Entry) -> Void = { _ in }
    ) {
        history.write(Entry(event, me: self.peer.uid.text, peer: peer?.uid.text).with(change))
    }

    // MARK: start and end

    /// Starts a new run.
    func start() async throws {
        let session = try Session(peer: peer, configuration: options.configuration)
        let data = try await data(of: session)
        (self.session, isOver, isLeaving, linked) = (session, false, false, [])
        instance = String(data.instance, radix: 16)
        log(.start) {
            $0.instance = instance
            $0.name = options.name
            $0.cap = options.configuration.maximumPeers
            $0.timeLimit = options.configuration.connectTimeout.seconds
            $0.death = options.configuration.idleTimeout.seconds
            $0.topology = options.configuration.topology == .star ? .star : .mesh
        }
        try publish(data)
        let events = session.events
        // They end with each `disconnect`, and the member comes back.
        ear = Task { while !isOver { for await event in events { await hear(event) } } }
        errand { await $0.giveFiles() }
    }

    /// Sends GOODBYE to all peers, after everything that was sent, and is another instance afterwards.
    func leave() async throws {
        guard let session else { return }
        isLeaving = true
        defer { isLeaving = false }
        log(.goodbye)
        await withTaskGroup(of: Void.self) { group in
            for peer in linked {
                group.addTask { await self.flush(peer, on: session) }
            }
        }
        await session.disconnect()
        try publish(await refreshed(session))
    }

    /// Leaves, and records all remaining events, to the last line.
    func quit() async throws {
        try await leave()
        isOver = true
        await letGo()
        log(.quit)
    }

    /// Ends without a goodbye, like a process that is killed. Only the nemesis calls this.
    func drop() async {
        history.write(Entry(.kill, me: Entry.nemesis, peer: peer.uid.text))
        isOver = true
        session = nil
        await letGo()
    }

    private func letGo() async {
        session = nil
        // Tasks that still run hold the session until its link ends, which the other side does.
        for task in talks.values { task.cancel() }
        for task in errands.values { task.cancel() }
        for task in talks.values { await task.value }
        for task in errands.values { await task.value }
        await ear?.value
        // All events up to the last one.
        while let task = errands.values.first { await task.value }
        talks = [:]
    }

    // MARK: joining

    func data() async throws -> ConnectionData {
        guard let session else { throw Complaint("the member has not started") }
        return try await data(of: session)
    }

    /// Connects to the peer of the data, and records the result.
    func join(_ data: ConnectionData) {
        guard let session else { return }
        attempts += 1
        let id = "\(attempts)"
        log(.attempt, data.peer) { $0.id = id }
        errand { member in
            var outcome = Entry.good
            do throws(MultipeerError) {
                try await session.connect(with: data)
            } catch {
                outcome = error.reason?.code.rawValue ?? error.code.rawValue
            }
            member.log(.outcome, data.peer) {
                $0.id = id
                $0.outcome = outcome
            }
        }
    }

    func set(rate: Double) { self.rate = rate }

    func set(files: Double) { self.files = files }

    /// Starts a task that `quit` waits for.
    func errand(_ body: @escaping @Sendable (Member) async -> Void) {
        lastErrand += 1
        let number = lastErrand
        errands[number] = Task {
            await body(self)
            self.errands[number] = nil
        }
    }

    private func data(of session: Session) async throws -> ConnectionData {
        try await session.connectionData(mesh: options.configuration.topology == .mesh)
    }

    private func publish(_ data: ConnectionData) throws {
        try Data(data.bytes).write(to: dataFile, options: .atomic)
    }

    /// Returns its current connection data. A session that left, or was evicted, is another instance.
    private func refreshed(_ session: Session) async throws -> ConnectionData {
        let data = try await data(of: session)
        let now = String(data.instance, radix: 16)
        if now != instance {
            instance = now
            log(.instance) { $0.instance = now }
        }
        return data
    }

    // MARK: events

    private func hear(_ event: Session.Event) async {
        switch event {
        case .peer(let peer, let state): await hear(peer, state)
        case .message(let message):
            let bytes = message.bytes
            let letter = Letter(bytes)
            log(.message, message.peer) {
                $0.number = letter?.number
                $0.from = letter?.from
                $0.hash = Letter.hash(bytes)
            }
        case .resource(let resource):
            log(.offered, resource.peer) { $0.id = resource.name }
            errand { await $0.take(resource) }
        case .stream, .verificationRequested, .verified: break
        }
    }

    private func hear(_ peer: PeerID, _ state: PeerState) async {
        log(.state, peer) {
            switch state {
            case .connecting: $0.state = .connecting
            case .connected: $0.state = .connected
            case .notConnected(let reason):
                $0.state = .notConnected
                $0.reason = "\(reason)"
            }
        }
        guard case .connected = state else {
            linked.remove(peer)
            return
        }
        let isFirst = linked.isEmpty
        linked.insert(peer)
        if talks[peer] == nil { talks[peer] = Task { await self.talk(to: peer) } }
        // A session that was evicted from its mesh has begun another instance by itself.
        if isFirst, let session { _ = try? await refreshed(session) }
    }

    /// Returns the next message for a peer.
    func letter(for peer: PeerID) -> Letter {
        let number = lastNumber[peer, default: 0] + 1
        lastNumber[peer] = number
        return Letter(from: instance, number: number, length: Int.random(in: 0...1_500))
    }
}

extension Duration {
    var seconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }
}
