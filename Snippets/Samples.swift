// The examples of the symbols of the Swift API, which `.ci/site/examples` adds to their documentation. The file is only compiled.
// library: Multipeer

import Foundation
import Multipeer

func creating(_ picture: [UInt8]) async throws {
    // example: PeerID, PeerID.init(displayName:), PeerID.displayName, PeerID.uid, UID
    // example: PeerID.description
    let ann = try PeerID(displayName: "ann")  // a new random UID each time
    print(ann.displayName, ann.uid)
    print("\(ann)")  // its description: the name alone
    // end
    // example: PeerID.archived, PeerID.init(archived:)
    let saved: [UInt8] = ann.archived  // keep this, to be the same peer after the next start
    let again = try PeerID(archived: saved)
    print(again == ann)  // true
    // end
    // example: PeerID.init(uid:displayName:), UID.init(_:), UID.bytes, UID.isKeyed, UID.byteCount
    guard let uid = UID([UInt8](repeating: 7, count: UID.byteCount)) else { return }
    let old = try PeerID(uid: uid, displayName: "bob")
    print(old.uid.bytes.count, uid.isKeyed)  // 16 false: the id is no hash of a key
    // end
    // example: PeerID.init(displayName:identity:), Identity, Identity.generate(commonName:)
    // example: Identity.fingerprint, Identity.chain
    let identity = try Identity.generate(commonName: "ann")
    let keyed = try PeerID(displayName: "ann", identity: identity)  // its id is a hash of the key
    print(keyed.uid.isKeyed, identity.fingerprint, identity.chain.count)
    // end
    // example: Session, Session.init(peer:configuration:), Session.peer, Session.configuration
    // example: Session.Configuration.init(encryption:identity:trust:)
    let configuration = Session.Configuration(
        encryption: .required, identity: identity, trust: .connectionData)
    let session = try Session(peer: keyed, configuration: configuration)
    print(session.peer, session.configuration.maximumPeers)
    // end
    // example: Session.certificate, Certificate, Certificate.subject, Certificate.issuer
    // example: Certificate.fingerprint, Certificate.keyDescription, Certificate.isSelfSigned
    // example: Certificate.notBefore, Certificate.notAfter
    if let certificate: Certificate = session.certificate {
        print(certificate.subject, certificate.issuer, certificate.fingerprint)
        print(
            certificate.keyDescription, certificate.isSelfSigned, certificate.notBefore, certificate.notAfter)
    }
    // end
    // example: Certificate.pem, Certificate.der, Certificate.init(der:)
    if let shown = session.certificate {
        let same = try Certificate(der: shown.der)
        print(String(decoding: same.pem, as: UTF8.self))
    }
    // end
    // example: Session.disconnect(within:)
    await session.disconnect(within: .seconds(2))  // sends what was accepted, for two seconds at most
    // end
}

func configuring(_ identity: Identity, _ authority: Certificate) throws {
    // example: Session.Configuration, Session.Configuration.encryption, EncryptionPreference
    // example: EncryptionPreference.required, Session.Configuration.maximumPeers
    // example: Session.Configuration.topology, Session.Configuration.Topology
    var configuration = Session.Configuration()
    configuration.encryption = EncryptionPreference.required
    configuration.maximumPeers = 4  // with this one
    configuration.topology = .star  // a Topology: peers are not introduced to each other
    // end
    // example: Session.Configuration.port, Session.Configuration.listenAddresses, SocketAddress
    // example: SocketAddress.loopback, SocketAddress.init(_:port:), SocketAddress.with(port:)
    // example: SocketAddress.port, SocketAddress.host
    configuration.port = 4761  // TCP and UDP, for a firewall
    configuration.listenAddresses = [SocketAddress.loopback, SocketAddress(.v4(0xC000_0201), port: 4761)]
    for address in configuration.listenAddresses { print(address.host, address.with(port: 80).port) }
    // end
    // example: Session.Configuration.advertisedAddresses
    // of a router
    if let public1 = SocketAddress("192.0.2.1:4761") { configuration.advertisedAddresses = [public1] }
    // end
    // example: Session.Configuration.keepAliveInterval, Session.Configuration.idleTimeout
    // example: Session.Configuration.connectTimeout
    configuration.keepAliveInterval = .seconds(5)
    configuration.idleTimeout = .seconds(15)  // then a silent peer is lost
    configuration.connectTimeout = .seconds(20)
    // end
    // example: Session.Configuration.maximumMessageSize, Session.Configuration.maximumStreams
    // example: Session.Configuration.allowsDatagrams
    configuration.maximumMessageSize = 1 << 20
    configuration.maximumStreams = 16
    configuration.allowsDatagrams = false  // .unreliable messages then go over the link
    // end
    // example: Session.Configuration.identity, Session.Configuration.trust, TrustPolicy
    configuration.identity = identity
    configuration.trust = TrustPolicy.connectionData
    // end
    // example: Session.Configuration.trustStore, TrustStore, TrustStore.File
    // example: TrustStore.File.init(path:), TrustStore.File.contents, TrustStore.entries
    // example: TrustStore.count, TrustStore.File.path, TrustStore.Entry
    let store = try TrustStore.File(path: "/home/ann/.local/share/app/peers")
    configuration.trustStore = store
    let known: TrustStore = store.contents
    print(store.path, known.count)
    for entry: TrustStore.Entry in known.entries { print(entry) }
    // end
    // example: TrustStore.File.reload(), TrustStore.File.forget(_:)
    // its next key is a first contact
    if let first = try store.reload().entries.first { try store.forget(first.peer) }
    // end
    // example: Session.Configuration.keyLog, KeyLog, KeyLog.init(_:)
    // TLS secrets, for Wireshark: never in production
    configuration.keyLog = KeyLog { line in print(line) }
    // end
}

func identities() throws {
    // example: Identity.pem(passphrase:), Identity.init(pem:passphrase:)
    let identity = try Identity.generate(commonName: "ann")
    let text = try identity.pem(passphrase: "correct horse")
    let restored = try Identity(pem: text, passphrase: "correct horse")
    // end
    // example: Identity.pkcs12(passphrase:), Identity.init(pkcs12:passphrase:)
    let file = try restored.pkcs12(passphrase: "correct horse")  // a .p12 file
    let same = try Identity(pkcs12: file, passphrase: "correct horse")
    // end
    // example: Identity.certificateRequest(commonName:uid:)
    let request = try same.certificateRequest(commonName: "ann", uid: nil)  // for an authority of yours
    print(request.count)
    // end
    // example: Fingerprint, Fingerprint.init(hex:), Fingerprint.init(_:), Fingerprint.bytes
    // example: Fingerprint.short, Fingerprint.byteCount
    let fingerprint = Fingerprint([UInt8](repeating: 1, count: Fingerprint.byteCount))
    let typed = Fingerprint(hex: String(repeating: "01", count: 32))
    print(fingerprint == typed, typed?.short ?? "", typed?.bytes.count ?? 0)
    // end
}

func nearby(_ me: PeerID, _ session: Session) async throws {
    // example: Advertiser, Advertiser.init(peer:service:info:identity:code:validity:configuration:)
    // example: Advertiser.start(), Advertiser.isRunning, Advertiser.port
    let advertiser = try Advertiser(peer: me, service: "chat", info: ["room": "kitchen"])
    try await advertiser.start()
    print(await advertiser.isRunning, await advertiser.port ?? 0)
    // end
    // example: Advertiser.update(info:), Advertiser.info, DiscoveryInfo, DiscoveryInfo.init(_:)
    // example: DiscoveryInfo.entries
    try await advertiser.update(info: DiscoveryInfo(["room": "cellar"]))  // browsers see it as .updated
    print(await advertiser.info.entries["room"] ?? "")
    // end
    // example: Advertiser.invitations, Advertiser.Invitations, Invitation, Invitation.inviter
    // example: Invitation.context, Invitation.timeout, Invitation.accept(into:)
    // example: Invitation.decline(), Invitation.isOpen, Invitation.isVerified
    let invitations: Advertiser.Invitations = advertiser.invitations
    for await invitation: Invitation in invitations where invitation.isOpen {
        print(invitation.inviter, invitation.timeout, invitation.isVerified)
        if invitation.context == Array("friend".utf8) {
            try await invitation.accept(into: session)
        } else {
            try await invitation.decline()
        }
    }
    // end
    // example: Invitation.waitUntilEnded()
    for await invitation in advertiser.invitations {
        // answered, withdrawn or timed out: remove the question from the screen
        await invitation.waitUntilEnded()
    }
    // end
    // example: Advertiser.stop(), Advertiser.peer, Advertiser.service, ServiceType
    // example: ServiceType.name
    let service: ServiceType = advertiser.service
    print(advertiser.peer, service.name)
    await advertiser.stop()  // the loops over its invitations end
    // end
}

func browsing(_ me: PeerID, _ session: Session) async throws {
    // example: Browser, Browser.init(peer:service:configuration:), Browser.start()
    // example: Browser.isRunning, Browser.peers
    let browser = try Browser(peer: me, service: "chat")
    try await browser.start()
    print(await browser.isRunning, await browser.peers.map(\.peer))
    // end
    // example: Browser.events, Browser.Events, DiscoveredPeer, DiscoveredPeer.peer
    // example: DiscoveredPeer.info, DiscoveredPeer.Event, DiscoveredPeer.Event.found(_:)
    // example: DiscoveredPeer.Event.updated(_:), DiscoveredPeer.Event.lost(_:)
    let events: Browser.Events = browser.events
    for await event: DiscoveredPeer.Event in events {
        switch event {
        case .found(let found): print(found.peer, found.info["room"] ?? "")  // a DiscoveredPeer
        case .updated(let found): print("\(found.peer) has other info")
        case .lost(let peer): print("\(peer) is no longer there")
        }
    }
    // end
    // example: Browser.invite(_:to:code:validity:context:timeout:)
    for found in await browser.peers {
        try await browser.invite(
            found.peer, to: session, context: Array("friend".utf8), timeout: .seconds(60))
    }
    // end
    // example: Browser.invite(at:to:code:validity:context:timeout:)
    if let address = SocketAddress("192.0.2.1:4761") {  // without multicast
        let peer = try await browser.invite(at: [address], to: session)
        print("linked with \(peer)")
    }
    // end
    // example: Browser.peer(for:), DiscoveredPeer.codeNumber, InvitationCode.init(_:)
    let code = try InvitationCode("7-guitar-island")
    let shower = try await browser.peer(for: code)
    print(shower.codeNumber ?? 0)  // 7
    // end
    // example: Browser.stop(), Browser.peer, Browser.service, Browser.configuration
    print(browser.peer, browser.service, browser.configuration.interfaces)
    await browser.stop()
    // end
    // example: InvitationCode, InvitationCode.random(words:), InvitationCode.number
    // example: InvitationCode.words, InvitationCode.description, InvitationCode.numbers
    // example: InvitationCode.wordCounts
    let random = InvitationCode.random(words: 2)
    print(random.number, random.words, InvitationCode.numbers, InvitationCode.wordCounts)
    print("the code is \(random)")  // its description, such as 7-guitar-island
    // end
    // example: Advertiser.code, Advertiser.codeValidity, InvitationCode.Validity
    // example: Advertiser.codeEvents, Advertiser.CodeEvents
    let validity = InvitationCode.Validity.once
    let host = try Advertiser(peer: me, service: "chat", code: random, validity: validity)
    print(host.code ?? code, host.codeValidity)
    let codeEvents: Advertiser.CodeEvents = host.codeEvents
    for await event in codeEvents { print(event) }  // a wrong guess, for example
    // end
}

func discovery() throws {
    // example: DiscoveryConfiguration, DiscoveryConfiguration.standard
    // example: DiscoveryConfiguration.loopback, DiscoveryConfiguration.init(interfaces:)
    // example: DiscoveryConfiguration.Interfaces
    let everywhere = DiscoveryConfiguration.standard
    let here = DiscoveryConfiguration.loopback  // nothing leaves this machine
    let cable = DiscoveryConfiguration(interfaces: DiscoveryConfiguration.Interfaces.only(["eth0"]))
    // end
    // example: DiscoveryConfiguration.interfaces, DiscoveryConfiguration.port
    // example: DiscoveryConfiguration.families, DiscoveryConfiguration.Family
    // example: DiscoveryConfiguration.hostTTL, DiscoveryConfiguration.waitsForConnectivity
    // example: DiscoveryConfiguration.listenAddresses
    var configuration = cable
    configuration.interfaces = .all
    configuration.port = 4761  // where invitations arrive
    configuration.families = [DiscoveryConfiguration.Family.v4]
    configuration.hostTTL = .seconds(120)
    configuration.waitsForConnectivity = true  // start before there is a network
    print(configuration.listenAddresses)
    // end
    // example: InMemoryDiscovery, InMemoryDiscovery.init(), DiscoveryConfiguration.inMemory(_:)
    let network = InMemoryDiscovery()  // for a test: peers of one process
    let inMemory = DiscoveryConfiguration.inMemory(network)
    // end
    print(everywhere, here, inMemory)
}

func byHand(_ session: Session, _ bytes: [UInt8]) async throws {
    // example: Session.connectionData(for:mesh:), ConnectionData, ConnectionData.bytes
    // example: ConnectionData.init(_:), ConnectionData.peer, ConnectionData.fingerprint
    // example: ConnectionData.lifetime, ConnectionData.preference, ConnectionData.recipient
    let mine = try await session.connectionData()  // hand mine.bytes to the other person
    let theirs = try ConnectionData(bytes)
    print(mine.bytes.count, theirs.peer, theirs.preference, theirs.lifetime)
    print(
        theirs.fingerprint?.short ?? "no certificate", theirs.recipient == nil ? "for anyone" : "for one peer"
    )
    // end
    // example: Session.connect(with:), Session.cancelConnecting(to:)
    Task {
        try await Task.sleep(for: .seconds(10))
        await session.cancelConnecting(to: theirs.peer)
    }
    try await session.connect(with: theirs)  // throws .cancelled if it took longer
    // end
}

func talking(_ session: Session, _ bob: PeerID, _ cid: PeerID) async throws {
    // example: Session.connectedPeers
    for peer in await session.connectedPeers { print("\(peer) is here") }
    // end
    // example: Session.send(_:to:)
    try await session.send("hello", to: bob)
    try await session.send([1, 2, 3], to: [bob, cid])
    // end
    // example: Session.send(_:to:delivery:), Session.Delivery, Session.Delivery.reliable
    // example: Session.Delivery.unreliable
    try await session.send([1, 2, 3], to: bob, delivery: Session.Delivery.reliable)
    try await session.send([4, 5, 6], to: bob, delivery: .unreliable)  // may be lost, and waits for nothing
    // end
    // example: Session.send(contentsOf:to:), Session.waitUntilReceived(by:)
    try await session.send(contentsOf: [[1], [2], [3]], to: bob)
    try await session.waitUntilReceived(by: bob)
    // end
    // example: Session.sendToAll(_:delivery:)
    let reached = try await session.sendToAll("the game begins")
    print("\(reached.count) peers get it")
    // end
    // example: Session.messages, Session.Message, Session.Message.peer, Session.Message.bytes
    // example: Session.Message.text, Session.Message.data
    for await message: Session.Message in session.messages {
        print(message.peer, message.text ?? "\(message.bytes.count) bytes", message.data)
    }
    // end
    // example: Session.peerStates, PeerState, PeerState.connected, PeerState.connecting
    // example: PeerState.notConnected(_:), DisconnectReason, DisconnectReason.detail
    // example: DisconnectReason.code
    for await (peer, state) in session.peerStates {
        switch state {  // a PeerState
        case .connecting: print("\(peer)…")
        case .connected: print("\(peer) is here")
        // DisconnectReason
        case .notConnected(let reason): print("\(peer) left: \(reason.code), \(reason.detail)")
        }
    }
    // end
    // example: Session.events, Session.Events, Session.Event, Session.Event.message(_:)
    // example: Session.Event.peer(_:_:), Session.Event.stream(_:), Session.Event.resource(_:)
    // example: Session.Event.verificationRequested(_:), Session.Event.verified(_:_:)
    let events: Session.Events = session.events
    for await event: Session.Event in events {
        switch event {
        case .peer(let peer, let state): print(peer, state)
        case .message(let message): print(message.peer, message.text ?? "?")
        case .stream(let stream): print("a stream, \(stream.name)")
        case .resource(let file): print("a file, \(file.name)")
        case .verificationRequested(let peer): print("\(peer) wants to compare a code")
        case .verified(let peer, let verification): print(peer, verification)
        }
    }
    // end
    // example: Session.incomingStreams, Session.incomingResources
    let files = Task { for await file in session.incomingResources { print(file.name) } }
    for await stream in session.incomingStreams { print(stream.name) }
    await files.value
    // end
    // example: Session.connectionInfo(for:), ConnectionInfo, ConnectionInfo.isEncrypted
    // example: ConnectionInfo.cipherSuite, ConnectionInfo.keyExchange, ConnectionInfo.verification
    // example: ConnectionInfo.remoteAddress, ConnectionInfo.localAddress, ConnectionInfo.isDialled
    // example: PeerVerification, PeerVerification.isVerified
    if let info: ConnectionInfo = await session.connectionInfo(for: bob) {
        print(info.isEncrypted, info.cipherSuite ?? "plain", info.keyExchange ?? "")
        print(info.localAddress, info.isDialled ? "→" : "←", info.remoteAddress)
        let verification: PeerVerification = info.verification
        print(verification, verification.isVerified)
    }
    // end
    // example: ConnectionInfo.statistics, LinkStatistics, LinkStatistics.messagesSent
    // example: LinkStatistics.messagesReceived, LinkStatistics.bytesSent
    // example: LinkStatistics.bytesReceived, LinkStatistics.roundTrip, LinkStatistics.RoundTrip
    // example: LinkStatistics.RoundTrip.smoothed, LinkStatistics.RoundTrip.shortest
    // example: ConnectionInfo.datagrams, ConnectionInfo.Datagrams.isUp
    // example: ConnectionInfo.Datagrams.dropped
    if let info = await session.connectionInfo(for: bob) {
        let statistics: LinkStatistics = info.statistics
        print(
            statistics.messagesSent, statistics.bytesSent, statistics.messagesReceived,
            statistics.bytesReceived)
        if let roundTrip: LinkStatistics.RoundTrip = statistics.roundTrip {
            print(roundTrip.smoothed, roundTrip.shortest)
        }
        print(info.datagrams.isUp, info.datagrams.dropped)
    }
    // end
}

func verifying(_ session: Session, _ bob: PeerID, _ typed: String) async throws {
    // example: Session.verificationCode(for:), VerificationDigits, VerificationDigits.own
    // example: VerificationDigits.match(_:), VerificationDigits.isComplete(_:)
    // example: Session.confirmVerification(of:), Session.rejectVerification(of:)
    let digits: VerificationDigits = try await session.verificationCode(for: bob)
    print("read this to \(bob): \(digits.own)")
    guard VerificationDigits.isComplete(typed) else { return }  // six digits, of the other screen
    if digits.match(typed) {
        try await session.confirmVerification(of: bob)
    } else {
        try await session.rejectVerification(of: bob)
    }
    // end
    // example: Session.declineVerification(of:)
    try await session.declineVerification(of: bob)  // not now: the link stays, unverified
    // end
}

struct Position: Codable, Sendable {
    let x: Double
    let y: Double
}

func typed(_ session: Session, _ bob: PeerID) async throws {
    // example: Session.send(encoding:to:using:), Session.sendToAll(encoding:using:), MessageCoder
    // example: JSONMessageCoder, MessageCoder.json
    let coder: any MessageCoder = .json  // a JSONMessageCoder; or your own
    try await session.send(encoding: Position(x: 1, y: 2), to: bob, using: coder)
    try await session.sendToAll(encoding: Position(x: 1, y: 2))
    // end
    // example: Session.messages(as:using:), Session.TypedMessage, Session.TypedMessage.peer
    // example: Session.TypedMessage.result, Session.TypedMessage.value
    for await message: Session.TypedMessage<Position> in session.messages(as: Position.self) {
        switch message.result {
        case .success(let position): print(message.peer, position.x, position.y)
        case .failure: print("\(message.peer) sent something else: message.value would throw")
        }
    }
    // end
}

func streams(_ session: Session, _ bob: PeerID) async throws {
    // example: Session.openStream(to:name:metadata:), OutgoingStream, OutgoingStream.write(_:)
    // example: OutgoingStream.finish(), OutgoingStream.peer, OutgoingStream.name
    let log: OutgoingStream = try await session.openStream(to: bob, name: "log")
    try await log.write(Array("started\n".utf8))  // waits while bob does not read
    try await log.finish()
    print(log.name, log.peer)
    // end
    // example: OutgoingStream.abort(_:), CloseCode
    let other = try await session.openStream(to: bob, name: "video")
    other.abort(CloseCode.cancelled)  // bob's loop throws
    // end
    // example: IncomingStream, IncomingStream.name, IncomingStream.peer, IncomingStream.metadata
    // example: IncomingStream.abort(_:)
    for await stream: IncomingStream in session.incomingStreams {
        print(stream.peer, stream.name, stream.metadata?.count ?? 0)
        guard stream.name == "log" else {
            stream.abort()
            continue
        }
        for try await bytes in stream { print(String(decoding: bytes, as: UTF8.self)) }
    }
    // end
}

func files(_ session: Session, _ bob: PeerID, _ folder: URL) async throws {
    // example: Session.send(file:to:name:metadata:digest:resumable:), OutgoingResource
    // example: OutgoingResource.progress, OutgoingResource.waitUntilReceived()
    // example: OutgoingResource.name, OutgoingResource.size, OutgoingResource.peer
    // example: OutgoingResource.resumedAt, TransferProgress, TransferProgress.fractionCompleted
    // example: TransferProgress.bytesPerSecond, TransferProgress.estimatedTimeRemaining
    // example: TransferProgress.completedBytes, TransferProgress.totalBytes
    // example: TransferProgress.elapsed
    let sending: OutgoingResource = try await session.send(file: URL(filePath: "photo.jpg"), to: bob)
    print(sending.name, sending.size ?? 0, sending.peer)
    for await progress: TransferProgress in sending.progress {
        print(progress.completedBytes, progress.totalBytes ?? 0, progress.fractionCompleted ?? 0)
        print(progress.bytesPerSecond, progress.elapsed, progress.estimatedTimeRemaining ?? .zero)
    }
    try await sending.waitUntilReceived()
    print("it went on at byte \(sending.resumedAt)")
    // end
    // example: OutgoingResource.cancel()
    let second = try await session.send(file: URL(filePath: "film.mp4"), to: bob)
    second.cancel()  // bob's receive throws
    // end
    // example: IncomingResource, IncomingResource.name, IncomingResource.size
    // example: IncomingResource.peer, IncomingResource.decline()
    // example: IncomingResource.receive(into:synchronizing:resuming:), IncomingResource.File
    // example: IncomingResource.File.url, IncomingResource.File.isVerified
    // example: IncomingResource.File.digest, IncomingResource.File.size
    for await offer: IncomingResource in session.incomingResources {
        guard let size = offer.size, size < 1 << 30 else {
            offer.decline()
            continue
        }
        let file: IncomingResource.File = try await offer.receive(into: folder)
        print("\(offer.name) of \(offer.peer): \(file.url.path), \(file.size) bytes")
        print(file.isVerified, file.digest?.count ?? 0)  // its SHA-256 was compared
    }
    // end
    // example: IncomingResource.receive(as:replacing:synchronizing:resuming:)
    // example: IncomingResource.progress, IncomingResource.cancel(), IncomingResource.metadata
    // example: Resumption, Resumption.standard
    for await offer in session.incomingResources {
        print(offer.metadata?.count ?? 0)
        Task {
            for await progress in offer.progress where progress.elapsed > .seconds(60) { offer.cancel() }
        }
        let place = folder.appending(path: "latest.jpg")
        _ = try await offer.receive(as: place, replacing: true, resuming: Resumption.standard)
    }
    // end
}

func sendingPaths(_ session: Session, _ bob: PeerID) async throws {
    // example: Session.send(fileAt:to:name:metadata:digest:resumable:)
    let sending = try await session.send(fileAt: "picture.jpg", to: bob)
    try await sending.waitUntilReceived()
    // end
    // example: IncomingResource.receive(synchronizing:resuming:)
    // example: IncomingResource.receive(intoDirectoryAt:synchronizing:resuming:)
    // example: IncomingResource.receive(asFileAt:replacing:synchronizing:resuming:)
    for await offer in session.incomingResources {
        switch offer.name {
        case "picture.jpg": _ = try await offer.receive(asFileAt: "latest.jpg", replacing: true)
        case "notes.txt": _ = try await offer.receive(intoDirectoryAt: "/var/tmp")
        default: print(try await offer.receive().path)  // in the session's own directory
        }
    }
    // end
}

func failing(_ session: Session, _ browser: Browser, _ bob: PeerID) async throws {
    // example: MultipeerError, MultipeerError.code, MultipeerError.Code, MultipeerError.description
    // example: MultipeerError.Code.declined, MultipeerError.Code.timedOut
    // example: MultipeerError.Code.unreachable, MultipeerError.Code.full, MultipeerError.Code.busy
    do {
        try await browser.invite(bob, to: session)
    } catch {  // a MultipeerError
        switch error.code {  // a MultipeerError.Code
        case .declined: print("the answer was no")
        case .timedOut: print("there was no answer")
        case .unreachable: print("a firewall is in the way, or the machine is gone")
        case .full, .busy: print("there is no room now")
        default: print(error.description)  // a sentence for the user
        }
    }
    // end
    // example: MultipeerError.reason, MultipeerError.Code.ended, MultipeerError.Code.notConnected
    // example: MultipeerError.Code.tooLarge, DisconnectReason.undelivered
    // example: DisconnectReason.Undelivered, DisconnectReason.Undelivered.messages
    do {
        try await session.send([1, 2, 3], to: bob)
    } catch {
        switch error.code {
        case .ended:
            let lost: DisconnectReason.Undelivered? = error.reason?.undelivered
            print("the link ended; \(lost?.messages ?? 0) messages may not have arrived")
        case .notConnected, .tooLarge: print("\(bob) never gets it")
        default: throw error
        }
    }
    // end
    // example: DisconnectReason.Code, DisconnectReason.Code.goodbye, DisconnectReason.Code.left
    // example: DisconnectReason.Code.lost, DisconnectReason.Code.timedOut
    // example: DisconnectReason.Code.codesDiffer, DisconnectReason.Code.rejected
    for await case (let peer, .notConnected(let reason)) in session.peerStates {
        let code: DisconnectReason.Code = reason.code
        switch code {
        case .goodbye: print("\(peer) left")
        case .left: print("we left")
        case .lost, .timedOut: print("\(peer) cannot be reached: invite it again")
        case .codesDiffer, .rejected: print("\(peer) may be someone else")
        default: print(reason)
        }
    }
    // end
}
