import Foundation
import MultipeerCLI
import MultipeerCommandLine
import MultipeerTransport
import Testing

/// A process of `MultipeerNeighbour` on the loopback interface, and its reports so far.
final class NeighbourProcess: Sendable {
    struct Said: Decodable, Sendable {
        let event: String
        var uid: String?
        var info: [String: String]?
        var addresses: [String]?
    }

    /// The timeout after which a process is killed, which ends its output.
    private static let timeLimit = DispatchTimeInterval.seconds(60)

    let process: ChildProcess
    private let reading = Worker("output")
    private let said = Locked<[Said]>([])

    init(_ type: String, _ name: String) throws {
        let folder = URL(filePath: ChildProcess.ownPath).deletingLastPathComponent()
        let path = folder.appending(path: "MultipeerNeighbour").path
        try #require(FileManager.default.isExecutableFile(atPath: path), "\(path) was not built")
        process = try ChildProcess(path, [type, name])
        // Not a task: all threads of the tasks may be waiting for processes.
        DispatchQueue.global().asyncAfter(deadline: .now() + NeighbourProcess.timeLimit) { [process] in
            process.signal(SIGKILL)
        }
    }

    deinit {
        process.signal(SIGKILL)
        reading.post { [process] in
            process.wait()
            process.closeStreams()
        }
    }

    func tell(_ line: String) throws(CommandError) { try process.input.write(Array("\(line)\n".utf8)) }

    /// Waits until it has made that many reports of that kind about that peer, and returns them; throws when it ends
    /// before.
    @discardableResult
    func says(_ event: String, of uid: String? = nil, times count: Int = 1) async throws -> [Said] {
        try await reading.run { [self] () throws(CommandError) in
            while true {
                let heard = said.withLock { $0.filter { $0.event == event && (uid == nil || $0.uid == uid) } }
                if heard.count >= count { return heard }
                guard let line = try process.output.readLine() else {
                    throw CommandError("it ended before it said \(event) \(count) times", exit: .system)
                }
                if let one = try? JSONDecoder().decode(Said.self, from: Data(line.utf8)) {
                    said.withLock { $0.append(one) }
                }
            }
        }
    }

    /// Returns its reports of that kind until now.
    func hasSaid(_ event: String) -> [Said] { said.withLock { $0.filter { $0.event == event } } }

    var uid: String {
        get async throws { try #require(try await says("advertised").first?.uid) }
    }

    func quit() async throws {
        try tell("quit")
        try await says("quit")
        #expect(process.wait() == 0)
    }
}
