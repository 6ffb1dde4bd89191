import Foundation
import Multipeer
import MultipeerCommandLine

/// The subject of a conformance test: carries out requests in lines of JSON, answers each, and reports events.
///
/// ```
/// standard input ──▶ request ──▶ answer  ──▶ standard output
///                       │ session ──▶ event ──▶
/// ```
///
/// A request that has to wait for others continues in a lane while the next ones are handled; the requests of a lane keep
/// their order.
@ShimActor
final class Shim {
    /// Enough for the longest message given as bytes, 64 KiB, in hexadecimal.
    private static let longestLine = 1 << 20

    /// The sessions, by name.
    private var subjects: [String: ShimSubject] = [:]
    private var latest = ""
    private let pipe: ShimPipe
    private let lanes: ShimQueues

    init() {
        pipe = ShimPipe()
        lanes = ShimQueues(pipe)
    }

    /// Handles requests until the end of input.
    func run() async throws(CommandError) {
        await ShimResourceUsage.begin()
        let lines = LineSource(longest: Shim.longestLine)
        while let line = try await lines.next() {
            switch line {
            case .tooLong: await pipe.refuse(nil, .invalid("the line is too long"))
            case .text(let text): if await !take(text) { return }
            }
        }
        await leave()
    }

    /// Handles a request; returns false when it was the last.
    private func take(_ line: String) async -> Bool {
        do throws(ShimRequest.Unreadable) {
            var request = try ShimRequest(line)
            let id = request.id
            if request.op == "quit" {
                await pipe.answer(id, [:])
                await leave()
                return false
            }
            do throws(ShimFault) {
                if let fields = try await begin(&request) { await pipe.answer(id, fields) }
            } catch {
                await pipe.refuse(id, error)
            }
        } catch {
            await pipe.refuse(error.id, .invalid(error.text))
        }
        return true
    }

    /// Closes all sessions gracefully, and waits for pending requests.
    func leave() async {
        await withTaskGroup(of: Void.self) { group in
            for subject in subjects.values { group.addTask { await subject.leave() } }
        }
        await lanes.finish()
        subjects = [:]
    }
}

// MARK: operations

extension Shim {
    /// Begins an operation; returns the fields of its answer, or nil when the answer comes later.
    private func begin(_ request: inout ShimRequest) async throws(ShimFault) -> [String: ShimValue?]? {
        switch request.op {
        case "session": return try await makeSession(&request)
        case "data": return try await subject(of: &request).data(&request)
        case "connect": return try await subject(of: &request).connect(&request)
        case "cancel": return try await subject(of: &request).cancel(&request)
        case "disconnect": try subject(of: &request).disconnect(&request)
        case "forget": return try await forget(&request)
        case "state": return try await subject(of: &request).state(&request)
        case "stats": return try await stats(&request)
        case "limit": return try limit(&request)
        case "code": return try subject(of: &request).code(&request)
        case "compared": return try subject(of: &request).compared(&request)
        case "send": try subject(of: &request).send(&request)
        case "flush": try subject(of: &request).flush(&request)
        case "pause": return try subject(of: &request).pause(&request, true)
        case "resume": return try subject(of: &request).pause(&request, false)
        case "stream": try subject(of: &request).streams.open(&request)
        case "write": try subject(of: &request).streams.write(&request)
        case "finish": try subject(of: &request).streams.finish(&request)
        case "abort": return try subject(of: &request).streams.abort(&request)
        case "hold": return try subject(of: &request).streams.hold(&request, true)
        case "take": return try subject(of: &request).streams.hold(&request, false)
        case "resource": try subject(of: &request).resources.send(&request)
        case "drop": return try subject(of: &request).resources.drop(&request)
        case "receive": return try subject(of: &request).resources.receive(&request)
        case "decline": return try subject(of: &request).resources.decline(&request)
        case "advertise": return try await subject(of: &request).nearby.advertise(&request)
        case "unadvertise": return try await subject(of: &request).nearby.stopAdvertising(&request)
        case "browse": return try await subject(of: &request).nearby.browse(&request)
        case "unbrowse": return try await subject(of: &request).nearby.stopBrowsing(&request)
        case "invite": return try subject(of: &request).nearby.invite(&request)
        case "withdraw": return try subject(of: &request).nearby.withdraw(&request)
        case "answer": return try subject(of: &request).nearby.answer(&request)
        default: throw .unimplemented(nil)
        }
        return nil
    }

    /// Returns the session that a request is for.
    private func subject(of request: inout ShimRequest) throws(ShimFault) -> ShimSubject {
        let name = try request.text("session") ?? latest
        guard let subject = subjects[name] else { throw .invalid("no session '\(name)'") }
        return subject
    }
}

// MARK: sessions

extension Shim {
    /// Creates a session; an earlier one with the same name is closed.
    private func makeSession(_ request: inout ShimRequest) async throws(ShimFault) -> [String: ShimValue?] {
        let options = try ShimOptions(&request) { [weak self] name, evidence in
            await self?.tell(of: evidence, to: name)
        }
        try request.end()
        let fresh = ShimSubject(try ShimContext(options, pipe, lanes))
        await subjects[fresh.name]?.leave()
        subjects[fresh.name] = fresh
        latest = fresh.name
        fresh.listen()
        return [
            "uid": .hex(options.peer.uid.bytes), "name": .text(options.peer.displayName),
            "implementation": .text("swift-multipeer \(CommandProgram.version)"),
            "levels": .list(
                ["core", "channels", "datagram", "mesh", "invite", "discovery", "code"].map { .text($0) }),
        ]
    }

    private func tell(of evidence: TrustEvidence, to name: String) async {
        guard subjects[name] != nil else { return }
        await pipe.tell(
            "certificate", of: name,
            [
                "peer": .hex(evidence.peer.bytes), "name": .text(evidence.name),
                "fingerprint": evidence.fingerprint.map { .hex($0.bytes) },
            ])
    }

    /// Closes a session and releases everything that it holds.
    private func forget(_ request: inout ShimRequest) async throws(ShimFault) -> [String: ShimValue?] {
        let subject = try subject(of: &request)
        try request.end()
        await subject.leave()
        subjects[subject.name] = nil
        lanes.remove("disconnect \(subject.name)")
        return [:]
    }

    // MARK: the process

    /// Sets limits of the system for this process.
    private func limit(_ request: inout ShimRequest) throws(ShimFault) -> [String: ShimValue?] {
        let size = try request.count("file")
        let count = try request.count("descriptors")
        try request.end()
        if let size {
            _ = signal(SIGXFSZ, SIG_IGN)
            try ShimResourceUsage.limit(.init(RLIMIT_FSIZE.rawValue), to: size)
        }
        if let count { try ShimResourceUsage.limit(.init(RLIMIT_NOFILE.rawValue), to: count) }
        return [:]
    }

    private func stats(_ request: inout ShimRequest) async throws(ShimFault) -> [String: ShimValue?] {
        _ = try request.text("session")
        try request.end()
        var buffered = 0
        for subject in subjects.values { buffered += await subject.context.session.driver.heldBytes }
        let usage = ShimResourceUsage()
        return [
            "rss": .integer(usage.resident), "heap": .integer(usage.allocated),
            "fds": .integer(usage.descriptors), "threads": .integer(usage.threads),
            "cpu": .number(usage.seconds), "buffered": .integer(buffered),
        ]
    }
}
