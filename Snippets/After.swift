// The right side of the migration guide: the same in the native API. A test checks that its samples are here.
// It is only compiled; `Nearby.swift` and `Payloads.swift` are samples that can be run.

import Foundation
import Multipeer

func make(_ identity: Identity) throws -> (Session, Advertiser, Browser) {
    let me = try PeerID(displayName: "ann")
    let archive = try JSONEncoder().encode(me)
    let same = try JSONDecoder().decode(PeerID.self, from: archive)
    assert(same == me)

    let session = try Session(
        peer: me, configuration: Session.Configuration(encryption: .required, identity: identity))
    let advertiser = try Advertiser(
        peer: me, service: "chat", info: ["room": "kitchen"])
    let browser = try Browser(peer: me, service: "chat")
    return (session, advertiser, browser)
}

func advertise(_ advertiser: Advertiser, _ session: Session) async throws {
    try await advertiser.start()  // throws if it cannot advertise
    for await invitation in advertiser.invitations {
        try await invitation.accept(into: session)  // returns when linked
    }
}

func browse(_ browser: Browser, _ session: Session) async throws {
    try await browser.start()  // throws if it cannot browse
    for await event in browser.events {
        switch event {
        case .found(let found) where found.info["room"] == "kitchen":
            try await browser.invite(found.peer, to: session)  // or throws an error
        case .lost(let peer): print("\(peer) is gone")
        default: break
        }
    }
}

func listen(to session: Session) async {
    for await event in session.events {
        switch event {
        case .peer(let peer, .connected): print("\(peer) is here")
        case .peer(let peer, .notConnected(let reason)): print("\(peer) left: \(reason)")
        case .message(let message): print("\(message.count) bytes from \(message.peer)")
        case .stream(let stream): Task { try await read(stream) }
        case .resource(let file): Task { try await keep(file) }
        default: break
        }
    }
}

func send(_ data: Data, to bob: PeerID, in session: Session) async {
    do throws(MultipeerError) {
        try await session.send([UInt8](data), to: bob)  // waits while bob is slow
    } catch {
        print(error.code == .notConnected ? "bob is not there" : "\(error)")
    }
}

func send(file url: URL, to bob: PeerID, in session: Session) async throws {
    let sending = try await session.send(file: url, to: bob, name: "photo")
    for await progress in sending.progress { print(progress.fractionCompleted ?? 0) }  // or sending.cancel()
    try await sending.waitUntilReceived()  // bob has it
}

func keep(_ file: IncomingResource) async throws {
    let kept = try await file.receive(into: URL(filePath: "inbox"))  // or file.decline()
    print(kept.url)
}

func stream(to bob: PeerID, in session: Session) async throws {
    let stream = try await session.openStream(to: bob, name: "log")
    try await stream.write(Array("first line".utf8))  // waits until bob reads
    try await stream.finish()
}

func read(_ stream: IncomingStream) async throws {
    for try await bytes in stream { print(bytes.count) }
}

func asking() -> TrustPolicy {
    .ask { evidence in evidence.chain.first?.subject == "CN=bob" }  // may wait for a user
}

func link(
    _ session: Session, with bob: PeerID, carrying carry: (ConnectionData) async throws -> ConnectionData
) async throws {
    let mine = try await session.connectionData(for: bob)
    let theirs = try await carry(mine)
    try await session.connect(bob, with: theirs)  // returns when linked, or throws an error
}

func leave(_ session: Session, _ advertiser: Advertiser, _ browser: Browser) async {
    await advertiser.stop()
    await browser.stop()
    await session.disconnect()  // returns when all peers are notified
}
