import Foundation
@preconcurrency import MultipeerConnectivity
import MultipeerTransport

extension TestApplication {
    static let service = "handset"
    /// A file that all devices send.
    private static let file = FileManager.default.temporaryDirectory.appending(
        path: "multipeer-handset-\(ProcessInfo.processInfo.processIdentifier)")
    private static let makeFile: Void = { try? Data(repeating: 9, count: 20_000).write(to: file) }()

    func advertise(_ isPossible: Bool = true) {
        let advertiser = MCNearbyServiceAdvertiser(
            peer: peer, discoveryInfo: nil, serviceType: TestApplication.service,
            configuration: discovery(isPossible))
        advertiser.delegate = self
        _ = change { held in
            defer { held.advertiser = advertiser }
            return held.advertiser
        }
        advertiser.startAdvertisingPeer()
    }

    func browse(_ isPossible: Bool = true) {
        let browser = MCNearbyServiceBrowser(
            peer: peer, serviceType: TestApplication.service, configuration: discovery(isPossible))
        browser.delegate = self
        _ = change { held in
            defer { held.browser = browser }
            return held.browser
        }
        browser.startBrowsingForPeers()
    }

    /// Makes everything that an application holds, and starts it.
    func begin() {
        open()
        advertise()
        browse()
    }

    /// One that does not work names an interface that no machine has.
    func discovery(_ isPossible: Bool = true) -> DiscoveryConfiguration {
        var configuration = DiscoveryConfiguration.loopback
        if isPossible { configuration.backend = network } else { configuration.interfaces = .only(["none"]) }
        return configuration
    }

    func perform(_ deed: CallbackAction) {
        switch deed {
        case .disconnect: session?.disconnect()
        case .dropDelegates: dropDelegates()
        case .release: _ = letGo()
        case .send: send()
        case .invite: known.forEach(invite)
        case .startStream: known.forEach { if let session { write(to: $0, in: session) } }
        case .sendResource: known.forEach { if let session { sendFile(to: $0, in: session) } }
        case .cancel: cancel()
        case .stop:
            belongings.advertiser?.stopAdvertisingPeer()
            belongings.browser?.stopBrowsingForPeers()
            stopScreens()
        case .connect: connect()
        }
    }

    /// What is done once a peer is connected.
    func greet(_ peer: MCPeerID, in session: MCSession) {
        try? session.send(Data("hello".utf8), toPeers: [peer], with: .reliable)
        try? session.send(Data("psst".utf8), toPeers: [peer], with: .unreliable)
        write(to: peer, in: session)
        sendFile(to: peer, in: session)
        session.nearbyConnectionData(forPeer: peer) { [weak self] _, _ in self?.reached(.connectionData) }
    }

    func read(_ stream: InputStream) {
        let ear = StreamEventDelegate(self, isWriter: false)
        change {
            $0.readers.append(stream)
            $0.ears.append(ear)
        }
        stream.delegate = ear
        stream.schedule(in: StreamThread.shared.runLoop, forMode: .default)
        stream.open()
    }

    private func send() {
        guard let session else { return }
        try? session.send(Data("again".utf8), toPeers: session.connectedPeers, with: .reliable)
        try? session.send(Data("again".utf8), toPeers: known, with: .unreliable)
    }

    private func invite(_ other: MCPeerID) {
        guard let session else { return }
        belongings.browser?.invitePeer(other, to: session, withContext: nil, timeout: 20)
    }

    private func write(to peer: MCPeerID, in session: MCSession) {
        guard let stream = try? session.startStream(withName: "notes", toPeer: peer) else { return }
        let ear = StreamEventDelegate(self, isWriter: true)
        change {
            $0.writers.append(stream)
            $0.ears.append(ear)
        }
        stream.delegate = ear
        stream.schedule(in: StreamThread.shared.runLoop, forMode: .default)
        stream.open()
    }

    private func sendFile(to peer: MCPeerID, in session: MCSession) {
        _ = TestApplication.makeFile
        let progress = session.sendResource(at: TestApplication.file, withName: "file", toPeer: peer) {
            [weak self] _ in self?.reached(.resourceSent)
        }
        if let progress { change { $0.transfers.append(progress) } }
    }

    /// Both make data, for each other, and connect with what they get.
    func connect() {
        guard let partner else { return }
        session?.nearbyConnectionData(forPeer: partner.peer) { [weak self, weak partner] own, _ in
            guard let self, let partner, let own else { return }
            partner.session?.nearbyConnectionData(forPeer: peer) { [weak self, weak partner] others, _ in
                guard let self, let partner, let others else { return }
                partner.session?.connectPeer(peer, withNearbyConnectionData: own)
                session?.connectPeer(partner.peer, withNearbyConnectionData: others)
            }
        }
    }

    private func cancel() {
        let held = belongings
        for transfer in held.transfers { transfer.cancel() }
        for stream in held.writers { stream.close() }
        for stream in held.readers { stream.close() }
        for peer in known { held.session?.cancelConnectPeer(peer) }
    }

    func dropDelegates() {
        let held = belongings
        held.session?.delegate = nil
        held.advertiser?.delegate = nil
        held.browser?.delegate = nil
        dropScreensDelegates()
        for stream in held.writers { stream.delegate = nil }
        for stream in held.readers { stream.delegate = nil }
    }

    func takeDelegates() {
        let held = belongings
        held.session?.delegate = self
        held.advertiser?.delegate = self
        held.browser?.delegate = self
    }
}
