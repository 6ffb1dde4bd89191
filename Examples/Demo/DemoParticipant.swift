import Foundation
import Multipeer
import MultipeerCommandLine

/// Carries out the demonstration's orders and reports.
final class DemoParticipant: Sendable {
    private static let questions = 200
    private static let piece = 65_536

    let session: Session
    private let orders = Worker("orders")
    private let reports = Worker("reports")
    /// The answer that the last question waits for; nil when the link has ended.
    private let answer = Locked<Promise<[UInt8]?>?>(nil)
    /// How many datagrams from each peer arrived over UDP, not over the link.
    let datagrams = Locked<[PeerID: Int]>([:])
    /// The digest of the last file sent.
    let sent = Locked<[UInt8]?>(nil)

    let advertiser: Advertiser
    let browser: Browser

    init(
        _ peer: PeerID, _ configuration: Session.Configuration, _ discovery: DiscoveryOptions
    ) throws(CommandError) {
        session = try CommandError.translating { () throws(MultipeerError) in
            try Session(peer: peer, configuration: configuration)
        }
        let place = discovery.configuration
        advertiser = Advertiser(peer: peer, service: discovery.service, configuration: place)
        browser = Browser(peer: peer, service: discovery.service, configuration: place)
    }

    func run() async throws(CommandError) {
        try await report(.ready(process: getpid()))
        let listening = Task { await self.listen() }
        defer { listening.cancel() }
        while let line = try await orders.run({ () throws(CommandError) in
            try DescriptorStream.input.readLine()
        }) {
            guard let order = try? JSONDecoder().decode(DemoOrder.self, from: Data(line.utf8)) else {
                throw CommandError("invalid order: \(line.printable)", exit: .badInput)
            }
            if case .leave = order { break }
            for one in await result(of: order) { try await report(one) }
        }
        async let isSilent: Void = advertiser.stop()
        await browser.stop()
        await isSilent
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
        case .meet: try await meet()
        case .say(let text): try await say(text)
        case .greet: try await greet()
        case .measure(let name, let seconds): [.measured(try await measure(peer(name), seconds))]
        case .deliver(let name): [.delivered(try await deliver(to: peer(name)))]
        case .leave: []
        }
    }

    private func say(_ text: String) async throws(MultipeerError) -> [DemoReport] {
        try await session.send(DemoMessage.greeting.message(Array(text.utf8)), to: session.connectedPeers)
        return []
    }

    private func greet() async throws(MultipeerError) -> [DemoReport] {
        for peer in await session.connectedPeers {
            let text = "hello \(peer.displayName), this is \(session.peer.displayName)"
            try await session.send(DemoMessage.greeting.message(Array(text.utf8)), to: peer)
        }
        return []
    }

    private func peer(_ name: String) async throws(MultipeerError) -> PeerID {
        guard let peer = await session.connectedPeers.first(where: { $0.displayName == name }) else {
            throw MultipeerError(.notConnected, "\(name) is not linked")
        }
        return peer
    }

    private func measure(_ peer: PeerID, _ seconds: Double) async throws(MultipeerError) -> DemoSpeed {
        var times: [Double] = []
        for _ in 0..<DemoParticipant.questions { times.append(try await ask(peer)) }
        let bulk = DemoMessage.bulk.message([UInt8](repeating: 0x5a, count: DemoParticipant.piece - 1))
        let start = ContinuousClock.now
        var sent = 0
        while start.duration(to: .now).seconds < seconds {
            try await session.send(bulk, to: peer)
            sent += bulk.count
        }
        try await session.waitUntilReceived(by: peer)
        let rate = Double(sent) / start.duration(to: .now).seconds
        return DemoSpeed(
            peer: peer.displayName, roundTrip: times.sorted()[times.count / 2], bytesPerSecond: rate)
    }

    /// Returns the round-trip time of 64 bytes in seconds.
    private func ask(_ peer: PeerID) async throws(MultipeerError) -> Double {
        let start = ContinuousClock.now
        _ = try await answer(of: peer) { () async throws(MultipeerError) in
            try await session.send(DemoMessage.question.message([UInt8](repeating: 0, count: 63)), to: peer)
        }
        return start.duration(to: .now).seconds
    }

    /// Returns the peer's answer to an action.
    func answer(
        of peer: PeerID, to act: () async throws(MultipeerError) -> Void
    ) async throws(MultipeerError) -> [UInt8] {
        let signal = Promise<[UInt8]?>()
        answer.withLock { $0 = signal }
        try await act()
        guard let content = await signal.value() else {
            throw MultipeerError(.notConnected, "\(peer) disconnected")
        }
        return content
    }

    private func listen() async {
        for await event in session.events {
            switch event {
            case .message(let message): await hear(message)
            case .stream(let stream): Task { await self.read(stream) }
            case .resource(let resource): Task { await self.store(resource) }
            case .peer(let peer, .connected): await reportLink(to: peer)
            case .peer(let peer, .notConnected(let reason)):
                answer.withLock { $0 }?.send(nil)
                try? await report(.lost(peer: peer.displayName, reason: "\(reason)"))
            case .peer, .verificationRequested, .verified: break
            }
        }
    }

    private func hear(_ message: Session.Message) async {
        let content = Array(message.bytes.dropFirst())
        switch message.bytes.first.flatMap(DemoMessage.init) {
        case .greeting:
            let text = String(decoding: content, as: UTF8.self)
            try? await report(.heard(from: message.peer.displayName, text: text))
        case .question: await reply(content, to: message.peer)
        case .answer: answer.withLock { $0 }?.send(content)
        case .datagram where message.delivery == .unreliable:
            datagrams.withLock { $0[message.peer, default: 0] += 1 }
        case .counting: await reply(number: datagrams.withLock { $0[message.peer] ?? 0 }, to: message.peer)
        case .bulk, .datagram, nil: break
        }
    }

    func reply(_ content: [UInt8], to peer: PeerID) async {
        try? await session.send(DemoMessage.answer.message(content), to: peer)
    }

    func reply(number: Int, to peer: PeerID) async { await reply(Array("\(number)".utf8), to: peer) }

    func report(_ report: DemoReport) async throws(CommandError) {
        let line = try JSON.encode(report, isPretty: false)
        try await reports.run { () throws(CommandError) in try Terminal.put(line) }
    }
}
