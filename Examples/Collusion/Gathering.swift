import Foundation
import MultipeerConnectivity

/// One run of the program, from the first foreground to the end.
@MainActor final class Gathering {
    private let options: Options
    private let folder: URL
    private let neighbourhood: Neighbourhood
    private var exchange: Exchange?
    /// The file that all devices get in this round.
    private var file: (round: Int, place: URL)?
    /// The exit code, once it is known.
    private var code: Int32?
    private let codes: AsyncStream<Int32>
    private let ending: AsyncStream<Int32>.Continuation

    init(_ options: Options) throws {
        self.options = options
        folder = FileManager.default.temporaryDirectory.appending(path: "collusion-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let me = try StoredPeer.load(options.name)
        let mark = String(UInt(bitPattern: me.hash), radix: 16)
        Collusion.write("you are \(me.displayName.printable), \(mark)")
        neighbourhood = Neighbourhood(me, service: options.service, inbox: folder)
        exchange = options.people.map { Exchange(people: $0, rounds: options.rounds) }
        (codes, ending) = AsyncStream.makeStream()
        neighbourhood.view = self
    }

    /// Runs until every round is over, the input ends, or the time is up; returns the exit code.
    func run() async -> Int32 {
        defer { try? FileManager.default.removeItem(at: folder) }
        neighbourhood.enterForeground()
        let typing = Task { await type() }
        let clock = Task {
            guard exchange != nil else { return }
            try await Task.sleep(for: options.within)
            end(1)
        }
        for await code in codes {
            typing.cancel()
            clock.cancel()
            return code
        }
        return 1
    }

    /// Leaves all sessions; the program ends when the others are notified.
    private func end(_ code: Int32) {
        guard self.code == nil else { return }
        self.code = code
        neighbourhood.enterBackground()
        endIfAlone()
    }

    private func endIfAlone() {
        if let code, neighbourhood.isAlone { ending.yield(code) }
    }

    private func type() async {
        for await line in Keyboard.lines() {
            switch line {
            case "background": neighbourhood.enterBackground()
            case "foreground": neighbourhood.enterForeground()
            case "quit": return end(0)
            default: for device in neighbourhood.connected { send(.text(line), to: device) }
            }
        }
        if exchange == nil, !Task.isCancelled { end(0) }
    }

    private func send(_ message: Message, to device: Device) {
        do {
            try device.send(message)
        } catch {
            show("not sent to \(device.name): \(error.localizedDescription)")
        }
    }
}

extension Gathering: NeighbourhoodView {
    func show(_ text: String) { Collusion.write(text) }

    func show(_ event: Device.Event, of device: Device) {
        switch event {
        case .changed(.connected):
            show("\(device.name) is connected")
            greet(device)
        case .changed(.notConnected):
            show("\(device.name) is not connected")
            exchange?.noteLeaving(of: device.peer)
            endIfAlone()
        case .changed: break
        case .received(let message):
            show("\(device.name): \(message)".printable)
            thank(device, for: exchange?.note(message, from: device.peer))
        case .receivedFile(let name, let place):
            show("\(device.name) sent the file \(name), saved as \(place.lastPathComponent)".printable)
            thank(device, for: exchange?.note(file: name, from: device.peer))
        case .failed(let text): show("\(device.name): \(text)".printable)
        }
        proceed()
    }

    private func greet(_ device: Device) {
        guard let round = exchange?.round, let hello = exchange?.greet(device.peer) else { return }
        send(hello, to: device)
        do {
            device.send(file: try file(of: round), as: Exchange.file(of: round))
        } catch {
            show("cannot create the file to send: \(error.localizedDescription)")
        }
    }

    /// Creates the file once: sending a file fails if it changes during the transfer.
    private func file(of round: Int) throws -> URL {
        if let file, file.round == round { return file.place }
        let place = folder.appending(path: "to send \(round)")
        try Data(repeating: UInt8(truncatingIfNeeded: round), count: 100_000).write(to: place)
        file = (round, place)
        return place
    }

    private func thank(_ device: Device, for round: Int?) {
        if let round { send(.thanks(round: round), to: device) }
    }

    /// Does what the user of a phone does between two rounds: switches to another app, and comes back.
    private func proceed() {
        guard let exchange, exchange.isRoundOver, code == nil else { return }
        show("round \(exchange.round) is over")
        guard !exchange.isLast else { return end(0) }
        self.exchange?.beginNext()
        neighbourhood.enterBackground()
        Task {
            try await Task.sleep(for: .milliseconds(200))
            if code == nil { neighbourhood.enterForeground() }
        }
    }
}

/// The lines of standard input. Reading blocks, so it has a thread of its own.
enum Keyboard {
    static func lines() -> AsyncStream<String> {
        AsyncStream { continuation in
            Thread.detachNewThread {
                while let line = readLine() { continuation.yield(line) }
                continuation.finish()
            }
        }
    }
}
