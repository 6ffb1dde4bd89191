import Foundation

/// Processes of this program that it has started itself: they scan until their standard input ends, which it does at the
/// latest with this process.
struct Crew: Sendable {
    private struct Worker: Sendable {
        let process: Process
        let input: Pipe
    }

    /// The names of those that have ended.
    let endings: AsyncStream<String>
    private let workers: [Worker]

    /// Nobody.
    init() { (endings, workers) = (AsyncStream { $0.finish() }, []) }

    /// Starts so many; the last one takes `slowness` milliseconds longer for each tile.
    init(_ count: Int, service: String, slowness: Int) throws {
        let (endings, telling) = AsyncStream<String>.makeStream()
        self.endings = endings
        var workers: [Worker] = []
        do {
            for number in 1..<count + 1 {
                let name = "worker-\(number)"
                let slow = number == count ? slowness : 0
                workers.append(try Crew.start(name, ["--service", service, "--slow", "\(slow)"], telling))
            }
        } catch {
            for worker in workers { worker.process.terminate() }
            throw error
        }
        self.workers = workers
    }

    private static func start(
        _ name: String, _ words: [String], _ telling: AsyncStream<String>.Continuation
    ) throws -> Worker {
        let worker = Worker(process: Process(), input: Pipe())
        worker.process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        worker.process.arguments = ["--name", name] + words
        worker.process.environment = ProcessInfo.processInfo.environment.merging([
            "MULTIPEER_INTERFACES": "lo"
        ]) { $1 }
        worker.process.standardInput = worker.input
        worker.process.standardOutput = FileHandle.nullDevice
        worker.process.terminationHandler = { _ in telling.yield(name) }
        try worker.process.run()
        return worker
    }

    /// Ends the first one without a word: it has no time to say goodbye.
    func killOne() {
        guard let process = workers.first?.process, process.isRunning else { return }
        kill(process.processIdentifier, SIGKILL)
    }

    /// Lets them go, and waits until they are gone: some seconds at the most.
    func dismiss() async {
        for worker in workers {
            do {
                try worker.input.fileHandleForWriting.close()
            } catch {
                Terminal.complain("a worker cannot be told to go: \(error.localizedDescription)")
            }
        }
        if await areGone(within: .seconds(5)) { return }
        for worker in workers where worker.process.isRunning { worker.process.terminate() }
        if await areGone(within: .seconds(2)) { return }
        for worker in workers where worker.process.isRunning {
            kill(worker.process.processIdentifier, SIGKILL)
        }
        _ = await areGone(within: .seconds(2))
    }

    private func areGone(within patience: Duration) async -> Bool {
        let deadline = ContinuousClock.now + patience
        while workers.contains(where: \.process.isRunning) {
            guard ContinuousClock.now < deadline, (try? await Task.sleep(for: .milliseconds(10))) != nil
            else { return false }
        }
        return true
    }
}
