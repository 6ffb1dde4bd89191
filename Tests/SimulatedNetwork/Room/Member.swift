package import Multipeer

/// One peer of a chat room, as an application would write it: it advertises and browses, is invited and invites, sends
/// all others a number each second, and records which peers are present and what they sent.
///
/// Nothing here knows of a simulation except what is passed in: configurations, a clock, and how to begin a task.
package actor Member {
    /// What a member has received from another.
    package struct Heard: Sendable {
        /// The numbers, in the order in which they came.
        package var numbers: [UInt32] = []
        /// The reasons with which the other was reported as not connected.
        package var ends: [DisconnectReason] = []
    }

    private static let service = "room"
    private static let pause = Duration.seconds(1)

    package nonisolated let peer: PeerID
    /// The peers that are linked.
    package private(set) var present: Set<PeerID> = []
    package private(set) var heard: [PeerID: Heard] = [:]
    /// What was accepted for sending.
    package private(set) var said: [PeerID: [UInt32]] = [:]

    private let log: @Sendable (String) -> Void
    private let session: Session
    private let advertiser: Advertiser
    private let browser: Browser
    private var found: Set<PeerID> = []
    private var invited: Set<PeerID> = []
    private var count: UInt32 = 0

    package init(
        _ peer: PeerID, session: Session.Configuration, discovery: DiscoveryConfiguration,
        log: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(MultipeerError) {
        self.peer = peer
        self.log = log
        self.session = try Session(peer: peer, configuration: session)
        advertiser = try Advertiser(peer: peer, service: Member.service, configuration: discovery)
        browser = try Browser(peer: peer, service: Member.service, configuration: discovery)
    }

    /// Takes part until the task is cancelled.
    package func run(on clock: any Clock<Duration>) async throws {
        let events = session.events
        try await advertiser.start()
        try await browser.start()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { for await event in events { await self.take(event) } }
            group.addTask { await self.admit() }
            group.addTask { await self.look() }
            group.addTask { try await self.talk(on: clock) }
            try await group.next()
            group.cancelAll()
        }
    }

    /// Leaves with a goodbye.
    package func leave() async {
        await advertiser.stop()
        await browser.stop()
        await session.disconnect()
    }

    private func take(_ event: Session.Event) {
        switch event {
        case .peer(let peer, .connected):
            log("\(self.peer.displayName) has \(peer.displayName)")
            present.insert(peer)
        case .peer(let peer, .notConnected(let reason)):
            log("\(self.peer.displayName) has \(peer.displayName) no more: \(reason.code)")
            if present.remove(peer) != nil { heard[peer, default: Heard()].ends.append(reason) }
        case .message(let message):
            let number = message.bytes.reduce(0) { $0 << 8 | UInt32($1) }
            log("\(peer.displayName) hears \(number) of \(message.peer.displayName)")
            heard[message.peer, default: Heard()].numbers.append(number)
        default: break
        }
    }

    private func admit() async {
        await withDiscardingTaskGroup { group in
            for await invitation in advertiser.invitations {
                group.addTask { try? await invitation.accept(into: self.session) }
            }
        }
    }

    private func look() async {
        for await event in browser.events {
            switch event {
            case .found(let peer): found.insert(peer.peer)
            case .lost(let peer): found.remove(peer)
            default: break
            }
        }
    }

    /// Each second invites the peers that are found and not linked, and sends the next number to all that are.
    private func talk(on clock: any Clock<Duration>) async throws {
        await withDiscardingTaskGroup { group in
            while !Task.isCancelled {
                for other in absent() { group.addTask { await self.invite(other) } }
                await say()
                guard (try? await clock.sleep(for: Member.pause)) != nil else { break }
            }
        }
    }

    /// Of two, the one with the lower id invites.
    private func absent() -> [PeerID] {
        found.filter { peer.uid < $0.uid && !present.contains($0) && !invited.contains($0) }
            .sorted { $0.uid < $1.uid }
    }

    private func invite(_ other: PeerID) async {
        guard invited.insert(other).inserted else { return }
        try? await browser.invite(other, to: session, timeout: .seconds(5))
        invited.remove(other)
    }

    private func say() async {
        count += 1
        let message = (0..<4).map { UInt8(truncatingIfNeeded: count >> (24 - 8 * $0)) }
        for other in present.sorted(by: { $0.uid < $1.uid }) {
            let number = count
            guard (try? await session.send(message, to: other)) != nil else { continue }
            said[other, default: []].append(number)
        }
    }
}
