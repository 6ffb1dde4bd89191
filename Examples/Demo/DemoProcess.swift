import Foundation
import Multipeer
import MultipeerCommandLine

/// One of the processes, as the demonstration sees it.
final class DemoProcess: Sendable {
    let name: String
    private let process: ChildProcess
    private let worker: Worker
    private let orders: Worker

    private static let names = [
        "ann", "bob", "cid", "dan", "eve", "fay", "gus", "hal", "ida", "jim", "kay", "leo", "mia", "ned",
        "oda",
        "pip",
    ]

    private init(_ name: String, _ preference: EncryptionPreference, _ options: [String]) throws(CommandError)
    {
        self.name = name
        worker = Worker(name)
        orders = Worker("orders")
        process = try ChildProcess(
            ChildProcess.ownPath,
            [
                "peer", "--anonymous", "--name", name, "--preference", "\(preference)", "--interface", "lo",
                "--timeout", "10",
            ] + options)
    }

    /// Starts `count` processes, at most 16; kills all of them when one cannot be started.
    static func start(
        _ count: Int, _ preference: EncryptionPreference, _ options: [String] = []
    ) throws(CommandError) -> [DemoProcess] {
        var processes: [DemoProcess] = []
        do throws(CommandError) {
            for name in names.prefix(count) { processes.append(try DemoProcess(name, preference, options)) }
        } catch {
            for process in processes { process.abandon() }
            throw error
        }
        return processes
    }

    var id: Int32 { process.id }

    func begin() async throws(CommandError) {
        guard case .ready(process.id) = try await next() else { throw wrong("did not start") }
    }

    func give(_ order: DemoOrder) async throws(CommandError) {
        let line = try JSON.encode(order, isPretty: false)
        do throws(CommandError) {
            try await orders.run { [process] () throws(CommandError) in try process.input.write(line) }
        } catch {
            throw await hasEnded()
        }
    }

    func heard() async throws(CommandError) -> (from: String, text: String) {
        guard case .heard(let from, let text) = try await answer() else {
            throw wrong("received no greeting")
        }
        return (from, text)
    }

    func measure(_ other: DemoProcess, _ seconds: Double) async throws(CommandError) -> DemoSpeed {
        try await give(.measure(peer: other.name, seconds: seconds))
        guard case .measured(let speed) = try await answer() else { throw wrong("sent no measurement") }
        return speed
    }

    func deliver(to other: DemoProcess) async throws(CommandError) -> DemoDelivery {
        try await give(.deliver(peer: other.name))
        guard case .delivered(let delivery) = try await answer() else {
            throw wrong("sent no delivery report")
        }
        return delivery
    }

    func end() async throws(CommandError) {
        let code = try await worker.run { [process] () throws(CommandError) in process.wait() }
        guard code == 0 else { throw wrong("ended with exit code \(code)") }
    }

    func abandon() {
        process.signal(SIGKILL)
        process.wait()
    }

    /// Returns its next report that is not about discovery or links.
    private func answer() async throws(CommandError) -> DemoReport {
        while true {
            let report = try await next()
            switch report {
            case .found, .invited, .linked: continue
            case .lost(let peer, let reason): throw wrong("lost \(peer.printable): \(reason.printable)")
            default: return report
            }
        }
    }

    /// Returns its next report. One task at a time may wait for it.
    func next() async throws(CommandError) -> DemoReport {
        let line = try await worker.run { [process] () throws(CommandError) in try process.output.readLine() }
        guard let line else { throw await hasEnded() }
        guard let report = try? JSONDecoder().decode(DemoReport.self, from: Data(line.utf8)) else {
            throw wrong("sent unexpected data")
        }
        if case .failed(let text) = report { throw CommandError(text.printable, exit: .linkFailed) }
        return report
    }

    private func hasEnded() async -> CommandError {
        let code = try? await worker.run { [process] () throws(CommandError) in process.wait() }
        return wrong("ended unexpectedly, exit code \(code ?? -1)")
    }

    private func wrong(_ text: String) -> CommandError { CommandError("\(name) \(text)", exit: .linkFailed) }
}
