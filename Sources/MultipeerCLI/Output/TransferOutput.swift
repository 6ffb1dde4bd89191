import MultipeerCommandLine
import MultipeerEssentials

/// What `send` and `receive` show and print: lines for people on standard error, and objects for programs on standard output.
final class TransferOutput: Sendable {
    static let options = [
        Usage.Option(
            "--json",
            "print an object a line on standard output, and nothing else: offer, progress, done, error and more"
        ),
        Usage.Option(
            "--progress", "print the progress every few seconds where standard error is no terminal"),
    ]

    let isQuiet: Bool
    let isJSON: Bool
    let totals = TransferTotals()
    private let showsLines: Bool
    private let display: TransferDisplay
    private let warnings = Locked(0)
    private let hasLostPermission = Locked(false)
    private let ticker = Locked<Task<Void, Never>?>(nil)
    /// More lines about files that fail do not help a person.
    private static let mostWarnings = 30
    private static let linePause = Duration.seconds(2)

    init(_ arguments: Arguments) {
        isQuiet = arguments.has("--quiet")
        isJSON = arguments.has("--json")
        showsLines = arguments.has("--progress") && !DescriptorStream.error.isTerminal
        display = TransferDisplay(isQuiet: arguments.has("--quiet"))
    }

    func say(_ text: String) { if !isQuiet { display.say(text) } }

    /// Shows what went wrong; of very many such lines only the first.
    func warn(_ text: String) {
        let count = warnings.withLock { count in
            count += 1
            return count
        }
        if count <= TransferOutput.mostWarnings { display.warn(text) }
        if count == TransferOutput.mostWarnings + 1 { display.warn("more such lines are left out") }
    }

    /// Says once that programs arrive without the permission to be executed.
    func losePermission() {
        guard hasLostPermission.setFirst() else { return }
        say("programs cannot be made executable in this directory: its file system does not allow it")
    }

    func clear() { display.clear() }

    /// Prints an object. A closed standard output is no reason to stop a transfer.
    func print(_ event: @autoclosure () -> TransferEvent) {
        if isJSON { try? Terminal.put(event().line) }
    }

    /// Shows the progress until `stop`.
    func watch() {
        guard display.isShown || showsLines || isJSON else { return }
        let pause = display.isShown ? TransferDisplay.pace : isJSON ? .seconds(1) : TransferOutput.linePause
        let task = Task { [weak self] in
            var meter = RateMeter()
            var count = 0
            while (try? await Task.sleep(for: pause)) != nil, let self {
                count += 1
                let reading = await self.totals.reading()
                let rate = meter.rate(reading.bytes)
                guard !Task.isCancelled, reading.name != nil else { continue }
                let line = await self.line(reading, rate)
                self.display.show(line)
                // Objects come once a second, whatever the terminal gets.
                let perSecond = self.display.isShown ? 10 : 1
                if count % perSecond == 0 { self.print(TransferOutput.event(reading, rate)) }
                if self.showsLines, count % (self.isJSON ? 2 : 1) == 0 {
                    Terminal.say(line.render(width: 100))
                }
            }
        }
        ticker.withLock { $0 = task }
    }

    func stop() {
        ticker.withLock { $0 }?.cancel()
        display.clear()
    }

    private func line(_ reading: TransferTotals.Reading, _ rate: Double) async -> TransferLine {
        if let (name, progress) = await totals.single() { return TransferLine(progress, name: name, nil) }
        let rest = reading.totalBytes.map { Double($0 > reading.bytes ? $0 - reading.bytes : 0) }
        let left = rest.flatMap { rate > 0 && $0 / rate < 8_640_000 ? Duration.seconds($0 / rate) : nil }
        let number = min(reading.files + 1, reading.totalFiles ?? .max)
        return TransferLine(
            name: reading.name ?? "",
            place: reading.totalFiles.flatMap { FilePosition(number, of: $0).shown },
            completed: reading.bytes, total: reading.totalBytes, rate: rate, left: left)
    }

    private static func event(_ reading: TransferTotals.Reading, _ rate: Double) -> TransferEvent {
        var event = TransferEvent("progress")
        event.files = reading.files
        event.totalFiles = reading.totalFiles
        event.bytes = reading.bytes
        event.totalBytes = reading.totalBytes
        event.bytesPerSecond = UInt64(max(0, min(rate, 0x1p62)))
        event.file = reading.name
        return event
    }
}

/// The rate of the last seconds.
private struct RateMeter {
    private var last = (time: ContinuousClock.now, bytes: UInt64(0))
    private var smoothed: Double?

    mutating func rate(_ bytes: UInt64) -> Double {
        let now = ContinuousClock.now
        let span = last.time.duration(to: now).seconds
        let rate = Double(bytes > last.bytes ? bytes - last.bytes : 0) / max(span, 1e-3)
        last = (now, bytes)
        let weight = min(1, span / 2)
        smoothed = smoothed.map { $0 * (1 - weight) + rate * weight } ?? rate
        return smoothed ?? 0
    }
}
