import Foundation
import Multipeer

/// The subject of a conformance test: does what lines of JSON ask for, answers each, and tells what happens.
///
/// ```
/// standard input ──▶ request ──▶ answer  ──▶ standard output
///                       │ session ──▶ event ──▶
/// ```
///
/// A request that has to wait for others goes on in a lane while the next ones are done; what is in one lane keeps its order.
actor Shim {
    /// The longest message that is given as bytes, 64 KiB, in hexadecimal, and room to spare.
    private static let longestLine = 1 << 20

    /// What goes on for each session, by its name.
    private(set) var subjects: [String: ShimSubject] = [:]
    private var latest = ""
    private let output = Worker("output")
    private var lanes: [String: Task<Void, Never>] = [:]
    private var lastNumber = 0

    /// Does requests until there are no more.
    func run() async throws(Complaint) {
        await ShimUsage.begin()
        let lines = LineSource(longest: Shim.longestLine)
        while let line = try await lines.next() {
            switch line {
            case .tooLong: await refuse(nil, .invalid("the line is too long"))
            case .text(let text): if await !take(text) { return }
            }
        }
        await leave()
    }

    /// Answers false when it was the last.
    private func take(_ line: String) async -> Bool {
        do throws(ShimRequest.Unreadable) {
            var request = try ShimRequest(line)
            let id = request.id
            if request.op == "quit" {
                await answer(id, [:])
                await leave()
                return false
            }
            do throws(ShimFault) {
                if let fields = try await begin(&request) { await answer(id, fields) }
            } catch {
                await refuse(id, error)
            }
        } catch {
            await refuse(error.id, .invalid(error.text))
        }
        return true
    }

    /// Says goodbye to everybody, and waits for what goes on.
    func leave() async {
        await withTaskGroup(of: Void.self) { group in
            for subject in subjects.values { group.addTask { await subject.leave() } }
        }
        for lane in lanes.values { await lane.value }
        subjects = [:]
    }

    // MARK: sessions

    /// The session that a request is for.
    func subject(of request: inout ShimRequest) throws(ShimFault) -> ShimSubject {
        let name = try request.text("session") ?? latest
        guard let subject = subjects[name] else { throw .invalid("there is no session '\(name)'") }
        return subject
    }

    /// One of the same name is left.
    func add(_ subject: ShimSubject) async {
        await subjects[subject.name]?.leave()
        subjects[subject.name] = subject
        latest = subject.name
    }

    /// A session that is not needed any more, with everything that it holds.
    func remove(_ subject: ShimSubject) async {
        await subject.leave()
        subjects[subject.name] = nil
        lanes["disconnect \(subject.name)"] = nil
    }

    // MARK: lanes

    /// Does something behind what is in the same lane, and answers the request when that is done.
    func later(
        _ request: ShimRequest, in lane: String,
        _ body: @escaping @Sendable () async throws(ShimFault) -> [String: ShimValue?]
    ) {
        let (before, id) = (lanes[lane], request.id)
        lanes[lane] = Task {
            await before?.value
            do throws(ShimFault) {
                await self.answer(id, try await body())
            } catch {
                await self.refuse(id, error)
            }
        }
    }

    /// A number for something that the other side of the pipe has to refer to.
    func number() -> Int {
        lastNumber += 1
        return lastNumber
    }

    // MARK: lines

    func tell(_ event: String, of subject: ShimSubject, _ fields: [String: ShimValue?]) async {
        await put(fields.merging(["event": .text(event), "session": .text(subject.name)]) { $1 })
    }

    private func answer(_ id: ShimValue?, _ fields: [String: ShimValue?]) async {
        await put(fields.merging(["re": id ?? .null, "ok": .flag(true)]) { $1 })
    }

    private func refuse(_ id: ShimValue?, _ fault: ShimFault) async {
        var fields: [String: ShimValue?]
        switch fault {
        case .unimplemented(let name):
            fields = ["unimplemented": .flag(true), "parameter": name.map { .text($0) }]
        case .failed(let reason): fields = reason.fields
        }
        fields["re"] = id ?? .null
        await put(fields)
    }

    /// Waits until whoever drives the test has taken the line; nobody can be told when it cannot be written.
    private func put(_ fields: [String: ShimValue?]) async {
        let value = ShimValue.object(with: fields)
        try? await output.run { () throws(Complaint) in
            try Terminal.put(JSON.encode(value, isPretty: false))
        }
    }
}

// MARK: operations

extension Shim {
    /// Answers the fields of the answer; nil when it comes later.
    private func begin(_ request: inout ShimRequest) async throws(ShimFault) -> [String: ShimValue?]? {
        switch request.op {
        case "session": return try await makeSession(&request)
        case "data": return try await data(&request)
        case "connect": return try await connect(&request)
        case "cancel": return try await cancel(&request)
        case "disconnect": try disconnect(&request)
        case "forget": return try await forget(&request)
        case "state": return try await state(&request)
        case "stats": return try await stats(&request)
        case "limit": return try limit(&request)
        case "code": return try code(&request)
        case "send": try send(&request)
        case "flush": try flush(&request)
        case "pause": return try pause(&request, true)
        case "resume": return try pause(&request, false)
        case "stream": try openStream(&request)
        case "write": try write(&request)
        case "finish": try finish(&request)
        case "abort": return try abort(&request)
        case "hold": return try hold(&request, true)
        case "take": return try hold(&request, false)
        case "resource": try sendResource(&request)
        case "drop": return try drop(&request)
        case "receive": return try receive(&request)
        case "decline": return try decline(&request)
        case "advertise": return try await advertise(&request)
        case "unadvertise": return try await stopAdvertising(&request)
        case "browse": return try await browse(&request)
        case "unbrowse": return try await stopBrowsing(&request)
        case "invite": return try invite(&request)
        case "withdraw": return try withdraw(&request)
        case "answer": return try answerInvitation(&request)
        default: throw .unimplemented(nil)
        }
        return nil
    }
}
