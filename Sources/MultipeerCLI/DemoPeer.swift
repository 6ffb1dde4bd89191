import Foundation
import Multipeer

/// `multipeer demo-peer`: one of the processes that `multipeer demo` starts. It takes orders on standard input, and ends
/// when that does: nobody is left behind when the demonstration is killed.
enum DemoPeer {
    static let usage = Usage(
        ["demo-peer"], "a peer of 'multipeer demo', which gives it orders on standard input",
        options: SessionOptions.options, exits: [.linkFailed, .badInput, .system, .interrupted])

    static func run(_ arguments: Arguments) async throws(Complaint) {
        let options = try SessionOptions(arguments)
        let actor = try DemoActor(options)
        try await actor.run()
    }
}

/// Carries out the orders and reports.
private final class DemoActor: Sendable {
    private static let questions = 200
    private static let piece = 65_536

    private let session: Session
    private let orders = Worker("orders")
    private let reports = Worker("reports")
    private let answer = Locked<Signal<Bool>?>(nil)

    init(_ options: SessionOptions) throws(Complaint) {
        session = try Complaint.translating { () throws(MultipeerError) in
            try Session(peer: options.peer, configuration: options.configuration)
        }
    }

    func run() async throws(Complaint) {
        let data = try await Complaint.translating { () async throws(MultipeerError) in
            try await session.connectionData()
        }
        let id = Dissection.hex(session.peer.uid.bytes)
        try await report(.ready(process: getpid(), id: id, data: Base64.encode(data.bytes)))
        let listening = Task { await self.listen() }
        defer { listening.cancel() }
        while let line = try await orders.run({ () throws(Complaint) in try Stream.input.readLine() }) {
            guard let order = JSON.decode(DemoOrder.self, from: line) else {
                throw Complaint("not an order: \(line.printable)", exit: .badInput)
            }
            if case .leave = order { break }
            for one in await result(of: order) { try await report(one) }
        }
        await session.disconnect()
    }

    private func result(of order: DemoOrder) async -> [DemoReport] {
        do throws(MultipeerError) {
            return try await carryOut(order)
        } catch {
            return [.failed(text: "\(session.peer): \(error.description)")]
        }
    }

    private func carryOut(_ order: DemoOrder) async throws(MultipeerError) -> [DemoReport] {
        switch order {
        case .seek(let data): [.linked(try await seek(data))]
        case .greet: try await greet()
        case .measure(let name, let seconds): [.measured(try await measure(name, seconds))]
        case .leave: []
        }
    }

    private func seek(_ text: String) async throws(MultipeerError) -> DemoLink {
        guard let data = try? Blob.read(Blob.decode(text)) else {
            throw MultipeerError(.invalidConnectionData, "the demonstration handed out damaged data")
        }
        let start = ContinuousClock.now
        try await session.connect(with: data)
        let time = start.duration(to: .now)
        guard let facts = await session.facts(for: data.peer) else {
            throw MultipeerError(.notConnected, "the link to \(data.peer) is gone")
        }
        return DemoLink(
            peer: data.peer.displayName, isEncrypted: facts.isEncrypted, suite: facts.suite,
            authentication: "\(facts.authentication)", connecting: time.seconds)
    }

    private func greet() async throws(MultipeerError) -> [DemoReport] {
        for peer in await session.peers {
            let text = "hello \(peer.displayName), this is \(session.peer.displayName)"
            try await session.send(DemoTalk.greeting.message(Array(text.utf8)), to: peer)
        }
        return []
    }

    private func measure(_ name: String, _ seconds: Double) async throws(MultipeerError) -> DemoSpeed {
        guard let peer = await session.peers.first(where: { $0.displayName == name }) else {
            throw MultipeerError(.notConnected, "\(name) is not linked")
        }
        var times: [Double] = []
        for _ in 0..<DemoActor.questions { times.append(try await ask(peer)) }
        let bulk = DemoTalk.bulk.message([UInt8](repeating: 0x5a, count: DemoActor.piece - 1))
        let start = ContinuousClock.now
        var sent = 0
        while start.duration(to: .now).seconds < seconds {
            try await session.send(bulk, to: peer)
            sent += bulk.count
        }
        try await session.flush(to: peer)
        let rate = Double(sent) / start.duration(to: .now).seconds
        return DemoSpeed(peer: name, roundTrip: times.sorted()[times.count / 2], bytesPerSecond: rate)
    }

    /// How many seconds 64 bytes take there and back.
    private func ask(_ peer: PeerID) async throws(MultipeerError) -> Double {
        let signal = Signal<Bool>()
        answer.withLock { $0 = signal }
        let start = ContinuousClock.now
        try await session.send(DemoTalk.question.message([UInt8](repeating: 0, count: 63)), to: peer)
        guard await signal.value() else { throw MultipeerError(.notConnected, "\(peer) has gone") }
        return start.duration(to: .now).seconds
    }

    private func listen() async {
        for await event in session.events {
            switch event {
            case .message(let message): await hear(message)
            case .peer(let peer, .connecting): try? await report(.seeking(peer: peer.displayName))
            case .peer(let peer, .notConnected(let reason)):
                answer.withLock { $0 }?.send(false)
                try? await report(.failed(text: "\(session.peer) lost \(peer): \(reason)"))
            case .peer, .stream, .resource, .verificationRequested: break
            }
        }
    }

    private func hear(_ message: Message) async {
        let content = Array(message.bytes.dropFirst())
        switch message.bytes.first.flatMap(DemoTalk.init) {
        case .greeting:
            let text = String(decoding: content, as: UTF8.self)
            try? await report(.heard(from: message.peer.displayName, text: text))
        case .question: try? await session.send(DemoTalk.answer.message(content), to: message.peer)
        case .answer: answer.withLock { $0 }?.send(true)
        case .bulk, nil: break
        }
    }

    private func report(_ report: DemoReport) async throws(Complaint) {
        let line = try JSON.encode(report, isPretty: false)
        try await reports.run { () throws(Complaint) in try Terminal.put(line) }
    }
}
