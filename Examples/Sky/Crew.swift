import Foundation

/// Worker processes that this program has started: they scan until their standard input ends, which happens at the latest
/// with this process.
struct Crew: Sendable {
    enum Event: Sendable {
        /// The process of that name has ended.
        case ended(String)
        /// A line that one of them wrote to standard error.
        case said(String)
    }

    fileprivate struct Worker: Sendable {
        let name: String
        let process = Process()
        let input = Pipe()
        let errors = Pipe()

        func signal(_ number: Int32) {
            guard process.isRunning else { return }
            kill(process.processIdentifier, number)
        }
    }

    let events: AsyncStream<Event>
    private let workers: [Worker]

    /// Creates a crew without workers.
    init() { (events, workers) = (AsyncStream { $0.finish() }, []) }

    /// Starts `count` workers; the last one takes `slowness` milliseconds longer for each tile.
    init(_ count: Int, service: String, slowness: Int) throws {
        let (events, telling) = AsyncStream<Event>.makeStream()
        self.events = events
        var workers: [Worker] = []
        do {
            for number in 1..<count + 1 {
                let worker = Worker(name: "worker-\(number)")
                let slow = number == count ? slowness : 0
                try worker.start(["--service", service, "--slow", "\(slow)"], telling)
                workers.append(worker)
            }
        } catch {
            for worker in workers { worker.process.terminate() }
            throw error
        }
        self.workers = workers
    }

    /// Kills the first worker: it has no time to say goodbye.
    func killOne() { workers.first?.signal(SIGKILL) }

    /// Ends the workers, and waits until they are gone, for at most some seconds. Those named in `lost` may be stopped or
    /// hang, so they are killed.
    func dismiss(lost: Set<String>) async {
        for worker in workers {
            if lost.contains(worker.name) {
                worker.signal(SIGKILL)
                continue
            }
            do {
                try worker.input.fileHandleForWriting.close()
            } catch {
                Terminal.complain("cannot ask a worker to exit: \(error.localizedDescription)")
            }
        }
        if await areGone(within: .seconds(5)) { return }
        for worker in workers { worker.signal(SIGTERM) }
        if await areGone(within: .seconds(2)) { return }
        for worker in workers { worker.signal(SIGKILL) }
        _ = await areGone(within: .seconds(2))
    }

    private func areGone(within timeLimit: Duration) async -> Bool {
        let deadline = ContinuousClock.now + timeLimit
        while workers.contains(where: \.process.isRunning) {
            guard ContinuousClock.now < deadline, (try? await Task.sleep(for: .milliseconds(10))) != nil
            else { return false }
        }
        return true
    }
}

extension Crew.Worker {
    func start(_ words: [String], _ telling: AsyncStream<Crew.Event>.Continuation) throws {
        process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["--name", name] + words
        process.environment = ProcessInfo.processInfo.environment.merging([
            "MULTIPEER_INTERFACES": "lo"
        ]) { $1 }
        process.standardInput = input
        process.standardOutput = FileHandle.nullDevice
        // Otherwise the worker would write into the display of this process.
        process.standardError = errors
        process.terminationHandler = { [name] _ in telling.yield(.ended(name)) }
        try process.run()
        // Reading blocks, so it has a thread of its own.
        Thread.detachNewThread { [name, errors] in
            for line in Lines(of: errors.fileHandleForReading) {
                let text = "\(name): \(line.trimmingPrefix("sky: "))"
                // The line goes to standard error if the sequence no longer has a reader.
                if case .terminated = telling.yield(.said(text)) { Terminal.complain(text) }
            }
        }
    }
}

/// The lines from a pipe, to its end.
private struct Lines: Sequence, IteratorProtocol {
    /// The longest line; longer ones are returned in pieces.
    private static let length = 4_096

    private let handle: FileHandle
    private var bytes: [UInt8] = []
    private var isOver = false

    init(of handle: FileHandle) { self.handle = handle }

    mutating func next() -> String? {
        while true {
            if let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
                defer { bytes.removeFirst(end + 1) }
                return String(decoding: bytes[..<end], as: UTF8.self)
            }
            if isOver || bytes.count >= Lines.length {
                defer { bytes = [] }
                return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
            }
            let more = handle.availableData
            bytes += more
            isOver = more.isEmpty
        }
    }
}
