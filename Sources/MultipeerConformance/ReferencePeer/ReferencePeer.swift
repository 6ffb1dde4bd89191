import Foundation
import MultipeerPlatform
import MultipeerSecurity

/// The reference peer: a small second implementation of MPC/1, driven by the shim protocol on standard input and output.
/// With a bug it has exactly that fault, which shows whether the suite finds it.
package final class ReferencePeer {
    let bug: Bug?
    let loop = PollLoop()
    private let console: JSONLinesIO
    private var sessions: [PeerSession] = []
    /// Sessions that are forgotten, but not written out.
    private var leaving: [PeerSession] = []
    private var isDone = false
    var numbers = 0
    var incoming: [Int: PeerIncomingChannel] = [:]
    var outgoing: [Int: PeerOutgoingChannel] = [:]
    private let folder: String
    /// With a bug: the key of all sessions.
    var sharedIdentity: TLSIdentity?

    private init(bug: Bug?) throws(SuiteFault) {
        self.bug = bug
        console = JSONLinesIO()
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("judge-\(getpid())").path
        console.take = { [unowned self] in take($0) }
        console.isAtEnd = { [unowned self] in isDone = true }
        loop.add(console)
    }

    /// Runs until the input ends or contains quit; returns the exit code.
    package static func run(bug: Bug?) -> Int32 {
        do {
            let peer = try ReferencePeer(bug: bug)
            peer.serve()
            return 0
        } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            return 3
        }
    }

    private func serve() {
        while !isDone {
            loop.wait(.milliseconds(20)) { isDone }
            let now = Instant.now
            for session in sessions + leaving { session.tick(now) }
            leaving.removeAll { session in
                guard session.closing.isEmpty, !session.invitations.isLeaving else { return false }
                session.invitations.close()
                return true
            }
        }
        for session in sessions { session.shut() }
        loop.wait(.milliseconds(900)) { sessions.allSatisfy { $0.closing.allSatisfy { $0.unsent == 0 } } }
        try? FileManager.default.removeItem(atPath: folder)
    }

    func randomBytes(_ count: Int) -> [UInt8] {
        var random = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
    }

    func tell(_ fields: [String: JSONValue]) { console.say(.object(fields)) }

    func register(incoming channel: PeerIncomingChannel) -> Int {
        numbers += 1
        incoming[numbers] = channel
        return numbers
    }

    // MARK: Requests

    private func take(_ line: [UInt8]) {
        let request = JSONValue(line: line) ?? .null
        var answer: [String: JSONValue] = ["ok": true]
        do {
            answer.merge(try carryOut(request)) { $1 }
        } catch let refusal as ProtocolError {
            answer = ["error": .string(refusal.code.description), "reason": .string(refusal.text)]
        } catch is Unimplemented {
            answer = ["unimplemented": true]
        } catch {
            answer = ["error": "INTERNAL", "reason": .string("\(error)")]
        }
        answer["re"] = request["id"] ?? .null
        console.say(.object(answer))
    }

    private func carryOut(_ request: JSONValue) throws -> [String: JSONValue] {
        switch request["op"]?.text {
        case "session": return try makeSession(request)
        case "stats": return ProcessStatistics.now(buffered: sessions.reduce(0) { $0 + $1.buffered })
        case "limit": return try setLimits(request)
        case "quit":
            isDone = true
            return [:]
        default: break
        }
        let handle = request["session"]?.text
        guard let session = handle.map({ name in sessions.last { $0.handle == name } }) ?? sessions.last
        else {
            throw ProtocolError(.internal, "no such session")
        }
        if request["op"]?.text == "forget" {
            session.shut()
            sessions.removeAll { $0 === session }
            leaving.append(session)
            incoming = incoming.filter { $0.value.session !== session }
            outgoing = outgoing.filter { $0.value.session !== session }
            return [:]
        }
        if let answer = try carryOutSeeking(request, session) { return answer }
        if let answer = try carryOutChannels(request, session) { return answer }
        if let answer = try session.invitations.carryOut(request) { return answer }
        throw Unimplemented()
    }

    /// Sets limits of the process: the size of a file, and the number of descriptors.
    private func setLimits(_ request: JSONValue) throws -> [String: JSONValue] {
        for (key, number) in [
            ("file", Int32(RLIMIT_FSIZE.rawValue)), ("descriptors", Int32(RLIMIT_NOFILE.rawValue)),
        ] {
            guard let most = request[key]?.int else { continue }
            var limit = rlimit()
            _ = unsafe getrlimit(number, &limit)
            limit.rlim_cur = min(limit.rlim_max, rlim_t(most))
            try demand(unsafe setrlimit(number, &limit) == 0, .internal, "cannot set the limit")
        }
        _ = MultipeerPlatform.signal(SIGXFSZ, SIG_IGN)
        return [:]
    }

    private func makeSession(_ request: JSONValue) throws -> [String: JSONValue] {
        let uid =
            request["uid"]?.text.flatMap { [UInt8](hex: $0) }
            ?? KeyedUID.formed(randomBytes(16), version: bug == .uidOfNoVersion ? 1 : 4)
        var settings = PeerSession.Settings(handle: request["name"]?.text ?? "peer", uid: uid, folder: folder)
        settings.resumes = request["resumes"]?.isTrue ?? false
        settings.folder = request["receiving"]?.text ?? folder
        try FileManager.default.createDirectory(
            atPath: settings.folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700]
        )
        let words: [String: Preference] = ["none": .none, "optional": .optional, "required": .required]
        settings.preference = words[request["preference"]?.text ?? "required"] ?? .required
        settings.trust = request["trust"]?.text
        settings.identity = try request["identity"]?.text.map(TLSIdentity.init(file:))
        if let text = request["listen"]?.text {
            guard let place = Candidate(text) else { throw ProtocolError(.internal, "'listen'") }
            settings.listen = place
        }
        let limits = request["limits"] ?? .object([:])
        if let value = limits["maxMessage"]?.int { settings.limits.message = UInt64(value) }
        if let value = limits["messageCredit"]?.int { settings.limits.messageCredit = UInt32(value) }
        if let value = limits["channels"]?.int { settings.limits.channels = UInt32(value) }
        if let value = limits["channelCredit"]?.int { settings.limits.channelCredit = UInt32(value) }
        if let value = limits["peers"]?.int { settings.cap = value }
        let session = try PeerSession(settings, of: self)
        sessions.append(session)
        return ["uid": .string(uid.hex), "name": .string(settings.handle)]
    }

    func uid(_ request: JSONValue, _ key: String = "peer") throws(ProtocolError) -> [UInt8] {
        guard let uid = request[key]?.text.flatMap({ [UInt8](hex: $0) }), uid.count == 16 else {
            throw ProtocolError(.internal, "'\(key)' is not a uid")
        }
        return uid
    }

    func bytes(_ request: JSONValue) -> [UInt8] {
        request["hex"]?.text.flatMap { [UInt8](hex: $0) } ?? .pattern(request["size"]?.int ?? 0)
    }

    private func carryOutSeeking(_ request: JSONValue, _ session: PeerSession) throws -> [String: JSONValue]?
    {
        switch request["op"]?.text {
        case "data":
            let peer = request["peer"] == nil ? nil : try uid(request)
            let issued = session.issued.data(
                for: peer, isMesh: request["mesh"]?.isTrue ?? false, lifetime: request["lifetime"]?.int ?? 600
            )
            return ["data": .string(issued.bytes.hex)]
        case "connect": try session.connect(request["data"]?.text.flatMap { [UInt8](hex: $0) } ?? [])
        case "cancel": session.cancel(try uid(request))
        case "send": try send(request, session)
        case "pause": session.application.isPaused = true
        case "resume": session.application.isPaused = false
        case "state":
            return [
                "peers": .object(
                    Dictionary(session.application.told.map { ($0.key.hex, .string($0.value)) }) { $1 })
            ]
        case "disconnect": session.leave()
        case "code":
            guard let link = session.links[try uid(request)] else {
                throw ProtocolError(.unknownPeer, "not connected")
            }
            link.code.ask()
        case "compared":
            let result = request["result"]?.text.flatMap { CloseCode(named: $0) } ?? .internal
            try session.links[try uid(request)]?.code.compared(result)
        default: return nil
        }
        return [:]
    }

    private func send(_ request: JSONValue, _ session: PeerSession) throws {
        guard case .array(let names)? = request["to"] else {
            throw ProtocolError(.internal, "'to' is not a list")
        }
        let uids = names.map { $0.text.flatMap { [UInt8](hex: $0) } ?? [] }
        let links = uids.compactMap { session.links[$0] }
        let isComplete = links.count == uids.count
        try demand(isComplete || bug == .sendsToSome, .unknownPeer, "not connected to all of them")
        let bytes = bytes(request)
        let isShort = links.allSatisfy { UInt64(bytes.count) <= $0.theirs.message }
        try demand(isShort || bug == .ignoresMaxMessage, .tooLarge, "longer than the peer accepts")
        let hasRoom = links.allSatisfy { $0.outbox.queued < 4 << 20 } || bug == .queuesWithoutLimit
        try demand(hasRoom, .internal, "too much waits for this peer")
        let isUnreliable = request["mode"]?.text == "unreliable"
        for link in links where !(isUnreliable && link.datagrams.send(bytes)) { link.outbox.post(bytes) }
    }
}

extension PeerSession {
    /// Bytes of channels that the application has not taken.
    var buffered: Int { links.values.reduce(0) { $0 + $1.channels.buffered } }
}
