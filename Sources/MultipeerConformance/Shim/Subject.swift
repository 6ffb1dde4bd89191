import Foundation
import MultipeerPlatform

/// The implementation under test, driven through its shim: one process per case, one JSON object per line.
final class Subject: PollSource {
    private let caseRun: CaseRun
    private let process: ShimProcess
    private let errors: StandardErrorLog
    private var outgoing: [UInt8] = []
    private var incoming: [UInt8] = []
    private var answers: [Int: JSONValue] = [:]
    private var number = 0
    private var isAtEnd = false
    /// The subject's events, in order; `SubjectSession` takes from them.
    var events: [JSONValue] = []

    init(_ command: String, in caseRun: CaseRun) throws(SuiteFault) {
        self.caseRun = caseRun
        process = try ShimProcess(command)
        errors = StandardErrorLog(process.mutter, caseRun.log)
        caseRun.loop.add(self)
        caseRun.loop.add(errors)
    }

    /// The process, for signals.
    var processID: Int32 { process.id }

    // MARK: PollSource

    var descriptor: Int32 { isAtEnd ? -1 : process.talk }
    var wantsToRead: Bool { true }
    var wantsToWrite: Bool { !outgoing.isEmpty }

    func move() {
        while !outgoing.isEmpty {
            let count = unsafe outgoing.withUnsafeBytes {
                unsafe send(process.talk, $0.baseAddress, $0.count, CLibrary.noSignal | Int32(MSG_DONTWAIT))
            }
            guard count > 0 else { break }
            outgoing.removeFirst(count)
        }
        guard let bytes = StandardErrorLog.read(process.talk) else {
            isAtEnd = true
            return
        }
        incoming += bytes
        while let end = incoming.firstIndex(of: UInt8(ascii: "\n")) {
            let line = Array(incoming[..<end])
            incoming.removeSubrange(...end)
            take(line)
        }
    }

    private func take(_ line: [UInt8]) {
        guard !line.isEmpty else { return }
        caseRun.log.add(.told, String(decoding: line.prefix(2_000), as: UTF8.self))
        guard let value = JSONValue(line: line) else { return }
        if let number = value["re"]?.int { answers[number] = value } else { events.append(value) }
    }

    // MARK: Requests

    /// Sends a request, and does not wait for the answer.
    func post(_ op: String, _ parameters: [String: JSONValue] = [:]) -> Int {
        number += 1
        let request = parameters.merging(["op": .string(op), "id": .number(Double(number))]) { $1 }
        let line = JSONValue.object(request).line
        caseRun.log.add(.asked, String(line.prefix(2_000)))
        outgoing += Array(line.utf8) + [UInt8(ascii: "\n")]
        move()
        return number
    }

    /// Waits for an answer and returns it; nil when none comes in time.
    func answer(_ number: Int, within duration: Duration) -> JSONValue? {
        caseRun.loop.wait(duration) { answers[number] != nil || isAtEnd }
        return answers.removeValue(forKey: number)
    }

    /// Sends a request and waits for the answer, whatever it is.
    func ask(_ op: String, _ parameters: [String: JSONValue] = [:], within duration: Duration = .seconds(15))
        throws
        -> JSONValue
    {
        guard let answer = answer(post(op, parameters), within: duration) else {
            if let status = ended(within: .seconds(1)) {
                throw CaseFailure("the subject's process ended with \(status)", isOfProcess: true)
            }
            throw CaseFailure("the subject does not answer '\(op)' within \(duration)", isOfProcess: true)
        }
        if answer["unimplemented"]?.isTrue == true { throw Skip("the shim does not implement '\(op)'") }
        return answer
    }

    /// Returns why this is not the process of a shim; nil when it answers a request that no shim knows.
    func faultOfProtocol(within duration: Duration) -> String? {
        let number = post("probe")
        caseRun.loop.wait(duration) { answers[number] != nil || !events.isEmpty || isAtEnd }
        if answers[number] != nil { return nil }
        if !events.isEmpty { return "it answers a request with a line that is no answer" }
        guard let status = ended(within: isAtEnd ? .seconds(1) : .zero) else {
            return "it does not answer within \(duration)"
        }
        return "its process ended with \(status)"
    }

    /// Sends a request that must succeed.
    @discardableResult
    func call(_ op: String, _ parameters: [String: JSONValue] = [:], within duration: Duration = .seconds(15))
        throws
        -> JSONValue
    {
        let answer = try ask(op, parameters, within: duration)
        if let error = answer["error"]?.text {
            throw CaseFailure("'\(op)' fails: \(error), \(answer["reason"]?.text ?? "no reason")")
        }
        return answer
    }

    /// Takes out the first event that matches, and returns it; nil when none comes in time.
    func event(within duration: Duration, where fits: (JSONValue) -> Bool) -> JSONValue? {
        caseRun.loop.wait(duration) { events.contains(where: fits) || isAtEnd }
        return events.firstIndex(where: fits).map { events.remove(at: $0) }
    }

    // MARK: Process

    func signal(_ number: Int32) { process.signal(number) }

    /// Returns how the process ended; nil while it runs.
    func ended(within duration: Duration) -> Int32? {
        let deadline = ContinuousClock.now + duration
        while true {
            if let status = process.poll() { return status }
            guard ContinuousClock.now < deadline else { return nil }
            caseRun.loop.wait(.milliseconds(10))
        }
    }

    /// What the operating system reports of each descriptor of the process; empty where it reports nothing.
    var openDescriptors: [String] {
        let folder = "/proc/\(process.id)/fd"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.sorted().map { name in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)")
            return "\(name): \(target ?? "?")"
        }
    }

    /// Seconds in which threads of the process ran, or were ready to run; nil where the system does not report it.
    ///
    /// A thread that spins is always ready to run, also on a busy machine.
    var readySeconds: Double? {
        let folder = "/proc/\(process.id)/task"
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let times = threads.compactMap { thread -> Double? in
            let text = try? String(contentsOfFile: "\(folder)/\(thread)/schedstat", encoding: .utf8)
            let words = (text ?? "").split(whereSeparator: \.isWhitespace).prefix(2).compactMap { Double($0) }
            return words.count == 2 ? (words[0] + words[1]) / 1e9 : nil
        }
        return times.isEmpty ? nil : times.reduce(0, +)
    }

    /// Whether the process runs.
    var isRunning: Bool { process.poll() == nil }

    /// Asks the process to quit; how it reacts no longer matters.
    func quit() {
        guard isRunning else { return }
        _ = post("quit")
        if ended(within: .seconds(5)) == nil { process.signal(SIGKILL) }
        _ = ended(within: .seconds(5))
    }
}

/// The standard error of the subject: lines for the log.
private final class StandardErrorLog: PollSource {
    let descriptorOfProcess: Int32
    private let log: TrafficLog
    private var isAtEnd = false

    init(_ descriptor: Int32, _ log: TrafficLog) {
        descriptorOfProcess = descriptor
        self.log = log
    }

    var descriptor: Int32 { isAtEnd ? -1 : descriptorOfProcess }
    var wantsToRead: Bool { true }
    var wantsToWrite: Bool { false }

    func move() {
        guard let bytes = StandardErrorLog.read(descriptorOfProcess) else {
            isAtEnd = true
            return
        }
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            log.add(.note, "stderr: \(line)")
        }
    }

    /// Returns what can be read now; nil at the end.
    static func read(_ descriptor: Int32) -> [UInt8]? {
        var count = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, used in
            count = unsafe recv(descriptor, buffer.baseAddress, 65_536, Int32(MSG_DONTWAIT))
            used = max(0, count)
        }
        if count > 0 { return bytes }
        return count == 0 || (errno != EAGAIN && errno != EINTR) ? nil : []
    }
}
