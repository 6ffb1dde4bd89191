// The samples in the comments of the sources; a test checks that each of them is here. The file is only
// compiled.

import Distributed
import Foundation
import Multipeer
import MultipeerActors
@preconcurrency import MultipeerConnectivity
import MultipeerObservation
import MultipeerSimulation

// MARK: Multipeer

func browse(_ me: PeerID, _ session: Session) async throws {
    let browser = try Browser(peer: me, service: "chat")
    try await browser.start()
    for await event in browser.events {
        guard case .found(let found) = event else { continue }
        try await browser.invite(found.peer, to: session)  // returns when linked
    }
}

func advertise(_ me: PeerID, _ session: Session) async throws {
    let advertiser = try Advertiser(peer: me, service: "chat", info: ["room": "kitchen"])
    try await advertiser.start()
    for await invitation in advertiser.invitations {
        try await invitation.accept(into: session)  // or ask the user first, and decline
    }
}

func link(_ theirs: [UInt8], _ bob: PeerID) async throws {
    let session = try Session(peer: PeerID(displayName: "ann"))
    let mine = try await session.connectionData()  // send mine.bytes to the other person
    try await session.connect(with: ConnectionData(theirs))
    try await session.send(Array("hello".utf8), to: bob)
    for await event in session.events { print(event) }
    await session.disconnect()
    print(mine)
}

func send(_ session: Session, _ bob: PeerID) async throws {
    let sending = try await session.send(file: URL(fileURLWithPath: "picture.jpg"), to: bob)
    for await progress in sending.progress { print(progress) }
    try await sending.waitUntilReceived()
}

func write(_ session: Session, _ bob: PeerID) async throws {
    let stream = try await session.openStream(to: bob, name: "log")
    try await stream.write(Array("first\n".utf8))
    try await stream.finish()
}

func listen() -> Session.Configuration {
    var configuration = Session.Configuration()
    configuration.listenAddresses = DiscoveryConfiguration.standard.listenAddresses
    return configuration
}

// MARK: MultipeerSimulation

func split(_ chat: @Sendable @escaping (Advertiser, Session) async throws -> Void) async throws {
    let network = SimulatedNetwork(seed: 7)
    try await network.run { network in
        let (ann, bob) = (try network.host("ann"), try network.host("bob"))
        let advertiser = try Advertiser(peer: bob.peer, service: "chat", configuration: bob.discovery())
        let session = try Session(peer: ann.peer, configuration: ann.session())
        try await chat(advertiser, session)  // the application
        network.partition([ann], [bob])
        try await network.clock.sleep(for: .seconds(20))  // takes a few real milliseconds
        network.heal()
    }
    print(network.history)  // the same for the same seed
}

func simulate() throws {
    let simulation = Simulation(seed: 1)
    let ann = try simulation.addPeer("ann")
    let bob = try simulation.addPeer("bob")
    simulation.join(ann, bob)
    simulation.run(for: .seconds(5))
    // ann.linkedPeers contains bob.id alone

    ann.send([1, 2, 3], to: bob)
    simulation.run(for: .seconds(1))
    // bob.takeEvents() ends with .message([1, 2, 3], from: ann.id)

    simulation.network.cut(ann, bob)
    simulation.run(for: .seconds(30))
    // both were notified of the loss and of the new link: peers of one mesh dial each other for as long as it exists
}

// MARK: MultipeerConnectivity

func advertise(_ me: MCPeerID, _ delegate: any MCNearbyServiceAdvertiserDelegate) {
    let advertiser = MCNearbyServiceAdvertiser(
        peer: me, discoveryInfo: ["room": "kitchen"], serviceType: "chat")
    advertiser.delegate = delegate
    advertiser.startAdvertisingPeer()
}

func browse(
    _ me: MCPeerID, _ peerID: MCPeerID, _ session: MCSession, _ delegate: any MCNearbyServiceBrowserDelegate
) {
    let browser = MCNearbyServiceBrowser(peer: me, serviceType: "chat")
    browser.delegate = delegate
    browser.startBrowsingForPeers()
    // in foundPeer:
    browser.invitePeer(peerID, to: session, withContext: nil, timeout: 30)
}

func identify(_ ann: MCPeerID) throws -> MCSession {
    let identity = try MCIdentity(contentsOf: URL(fileURLWithPath: "ann.p12"), passphrase: "open sesame")
    let session = MCSession(peer: ann, securityIdentity: [identity], encryptionPreference: .required)
    return session
}

func link(_ delegate: any MCSessionDelegate, _ bob: MCPeerID, _ data: Data) throws {
    let session = MCSession(peer: MCPeerID(displayName: "ann"))
    session.delegate = delegate
    session.connectPeer(bob, withNearbyConnectionData: data)  // or by an invitation
    try session.send(Data("hello".utf8), toPeers: session.connectedPeers, with: .reliable)
}

final class Bar {
    var value = 0.0
}

func follow(_ progress: Progress, _ bar: Bar) async {
    for await fraction in progress.fractions { bar.value = fraction }
}

@MainActor func show(_ session: MCSession, _ delegate: any MCBrowserViewControllerDelegate) {
    func show(_ peers: [MCNearbyPeer]) { print(peers.count) }
    let controller = MCBrowserViewController(serviceType: "chat", session: session)
    controller.delegate = delegate
    controller.onChange = { show(controller.nearbyPeers) }
    controller.start()  // instead of presenting Apple's controller
}

// MARK: MultipeerActors

func work(_ session: Session, _ tile: [UInt8]) async throws {
    distributed actor Worker {
        typealias ActorSystem = PeerActorSystem
        distributed func count(_ tile: [UInt8]) -> Int { tile.count { $0 > 200 } }
    }

    let system = try await PeerActorSystem(session)
    try system.register(Worker.self)  // what peers may call
    let worker = Worker(actorSystem: system)  // keep a reference: the system does not
    try system.receptionist.checkIn(worker, as: "workers")

    for await worker in system.receptionist.checkIns(of: Worker.self, as: "workers") {
        print(try await worker.count(tile))  // local, or at another peer
    }
}

@Resolvable protocol Greeter: DistributedActor where ActorSystem == PeerActorSystem {
    distributed func greet() -> String
}

distributed actor Worker: Greeter {
    typealias ActorSystem = PeerActorSystem
    distributed func greet() -> String { "hello" }
}

distributed actor Sorter {
    typealias ActorSystem = PeerActorSystem
    distributed func sort<Element: Comparable & Codable & Sendable>(_ elements: [Element]) -> [Element] {
        elements.sorted()
    }
}

distributed actor Box<Content: Codable & Sendable> {
    typealias ActorSystem = PeerActorSystem
}

distributed actor Safe {
    typealias ActorSystem = PeerActorSystem
    distributed func status() -> String { "closed" }
    distributed func put(_ coin: Int) {}
    distributed func open() {}
}

func register(_ system: PeerActorSystem) throws {
    try system.register(Worker.self)
    try system.register(Worker.self, as: [$Greeter.self])  // also through a @Resolvable protocol
    try system.register(Sorter.self, generics: [Int.self, String.self])  // allowed generic arguments
    try system.register(Box<Int>.self, arguments: [Int.self])  // a generic actor
    try system.register(Safe.self, methods: ["status()", "put(_:)"])  // only these methods
}

distributed actor Archive {
    typealias ActorSystem = PeerActorSystem

    distributed func store(_ bytes: ByteStream) async throws -> Int {
        var count = 0
        for try await piece in bytes { count += piece.count }
        return count
    }

    distributed func develop(_ picture: SentFile) async throws -> SentFile {
        let place = try await picture.receive()
        return SentFile(place)
    }
}

func store(_ actor: Archive) async throws {
    let (stream, writer) = ByteStream.make()
    async let count = actor.store(stream)
    try await writer.write(Array("hello".utf8))
    writer.finish()
    print(try await count)
}

func lifetimes(_ theirs: [UInt8], _ bob: PeerID) async throws {
    try await withSession(peer: PeerID(displayName: "ann")) { session in
        try await session.connect(with: ConnectionData(theirs))
        try await session.send("hello", to: bob)
    }
}

func run(_ browser: Browser) async throws -> DiscoveredPeer {
    let bob = try await browser.run { events in
        for await event in events { if case .found(let peer) = event { return peer } }
        throw CancellationError()
    }
    return bob
}

func link(_ browser: Browser, _ session: Session) async throws {
    try await browser.run(linking: session) { found in found.info["room"] == "kitchen" }
}

func run(_ advertiser: Advertiser, _ session: Session) async throws {
    try await advertiser.run { invitations in
        for await invitation in invitations { try await invitation.accept(into: session) }
    }
}

struct User: Sendable {
    func allows(_ peer: PeerID) async -> Bool { true }
}

func answer(_ advertiser: Advertiser, _ session: Session, _ user: User) async throws {
    try await advertiser.run(into: session) { invitation in
        await user.allows(invitation.inviter)
    }
}

struct Move: Codable, Sendable {
    let x: Int
    let y: Int
}

struct Board {
    func apply(_ move: Move, by peer: PeerID) {}
}

func values(_ session: Session, _ bob: PeerID, _ board: Board) async throws {
    try await session.send(encoding: Move(x: 3, y: 4), to: bob)
    for await message in session.messages(as: Move.self) { board.apply(try message.value, by: message.peer) }
}

struct Recording {
    let chunks: AsyncStream<[UInt8]>
}

func send(_ recording: Recording, to bob: PeerID, in session: Session) async throws {
    let sending = try await session.send(contentsOf: recording.chunks, to: bob, name: "song.opus")
    try await sending.waitUntilReceived()
}

// MARK: MultipeerObservation

@MainActor func talk(_ peer: RoomModel.Peer, _ invitation: Invitation, _ photo: URL) async throws {
    let room = try RoomModel(peer: PeerID(displayName: "ann"), service: "chat")
    room.start()  // or `.task { await room.run() }` in a view

    room.invite(peer.id)  // one of `nearby`: it is one of `members` once it has accepted
    room.accept(invitation)  // one of `invitations`
    room.send("hello")  // to all members
    room.send(file: photo, to: peer.id)  // its progress is in `transfers`
    await room.stop()
}

func simulate(_ ann: SimulatedNetwork.Host, on network: SimulatedNetwork) async throws {
    let room = try await network.onMainActor {
        try RoomModel(peer: ann.peer, service: "chat", session: ann.session(), discovery: ann.discovery())
    }
    ann.task { await room.run() }
    try await network.clock.sleep(for: .seconds(5))
    await network.onMainActor { room.send("hello") }
}
