// The left side of the migration guide: Apple's API, as one class. A test checks that its samples are here.
// It is only compiled; `Delegates.swift` is the sample that can be run.

import Foundation
@preconcurrency import MultipeerConnectivity

final class Before: NSObject {
    let session: MCSession
    let advertiser: MCNearbyServiceAdvertiser
    let browser: MCNearbyServiceBrowser

    init(identity: MCIdentity) throws {
        let me = MCPeerID(displayName: "ann")
        let archive = try NSKeyedArchiver.archivedData(withRootObject: me, requiringSecureCoding: true)
        let same = try NSKeyedUnarchiver.unarchivedObject(ofClass: MCPeerID.self, from: archive)
        assert(same == me)

        session = MCSession(
            peer: me, securityIdentity: [identity], encryptionPreference: .required)
        advertiser = MCNearbyServiceAdvertiser(
            peer: me, discoveryInfo: ["room": "kitchen"], serviceType: "chat")
        browser = MCNearbyServiceBrowser(peer: me, serviceType: "chat")
        super.init()
    }

    static func identified(_ me: MCPeerID, by issuer: MCCertificate) throws -> MCSession {
        let fresh = try MCIdentity.generate(commonName: "ann")  // P-256, self-signed
        try fresh.pem(passphrase: "…").write(to: URL(filePath: "ann.pem"))
        let kept = try MCIdentity(contentsOf: URL(filePath: "ann.pem"), passphrase: "…")
        let session = MCSession(
            peer: me, securityIdentity: [kept, issuer], encryptionPreference: .required)
        return session
    }

    func advertise() {
        advertiser.delegate = self
        advertiser.startAdvertisingPeer()
    }

    func browse() {
        browser.delegate = self
        browser.startBrowsingForPeers()
    }

    func send(_ data: Data, to bob: MCPeerID) {
        do {
            try session.send(data, toPeers: [bob], with: .reliable)
        } catch MCError.notConnected {
            print("bob is not there")
        } catch {
            print(error.localizedDescription)
        }
    }

    func send(file url: URL, to bob: MCPeerID) {
        let progress = session.sendResource(at: url, withName: "photo", toPeer: bob) { error in
            print(error.map { "\($0)" } ?? "bob has it")
        }
        progress?.cancel()  // or poll fractionCompleted
    }

    func stream(to bob: MCPeerID) throws {
        let stream = try session.startStream(withName: "log", toPeer: bob)
        stream.delegate = self
        stream.schedule(in: .current, forMode: .default)
        stream.open()
    }

    func link(with bob: MCPeerID, carrying carry: @escaping @Sendable (Data) -> Data) {
        session.nearbyConnectionData(forPeer: bob) { [session] mine, error in
            guard let mine else { return }
            session.connectPeer(bob, withNearbyConnectionData: carry(mine))
        }
    }

    func leave() {
        advertiser.stopAdvertisingPeer()
        browser.stopBrowsingForPeers()
        session.disconnect()
    }
}

extension Before: MCNearbyServiceAdvertiserDelegate {
    func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
        withContext context: Data?, invitationHandler: @escaping (Bool, MCSession?) -> Void
    ) {
        invitationHandler(true, session)
    }

    func advertiser(_ advertiser: MCNearbyServiceAdvertiser, didNotStartAdvertisingPeer error: any Error) {
        print("cannot be found: \(error)")
    }
}

extension Before: MCNearbyServiceBrowserDelegate {
    func browser(
        _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?
    ) {
        guard info?["room"] == "kitchen" else { return }
        browser.invitePeer(peerID, to: session, withContext: nil, timeout: 30)
    }

    func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {
        print("\(peerID.displayName) is gone")
    }

    func browser(_ browser: MCNearbyServiceBrowser, didNotStartBrowsingForPeers error: any Error) {
        print("cannot look: \(error)")
    }
}

extension Before: MCSessionDelegate {
    func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
        switch state {
        case .connected: print("\(peerID.displayName) is here")
        case .notConnected: print("\(peerID.displayName) left; no reason is given")
        default: break
        }
    }

    func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
        print("\(data.count) bytes from \(peerID.displayName)")
    }

    func session(
        _ session: MCSession, didReceive stream: InputStream, withName streamName: String,
        fromPeer peerID: MCPeerID
    ) {
        stream.delegate = self
        stream.schedule(in: .main, forMode: .default)
        stream.open()
    }

    func session(
        _ session: MCSession, didStartReceivingResourceWithName resourceName: String,
        fromPeer peerID: MCPeerID, with progress: Progress
    ) {
        progress.cancel()  // declines the file
    }

    func session(
        _ session: MCSession, didFinishReceivingResourceWithName resourceName: String,
        fromPeer peerID: MCPeerID, at localURL: URL?, withError error: (any Error)?
    ) {
        guard let localURL else { return print("\(resourceName) did not arrive") }
        try? FileManager.default.moveItem(at: localURL, to: URL(filePath: "kept"))
    }

    func session(
        _ session: MCSession, didReceiveCertificate certificate: [Any]?, fromPeer peerID: MCPeerID,
        certificateHandler: @escaping (Bool) -> Void
    ) {
        let leaf = certificate?.first as? MCCertificate
        certificateHandler(leaf?.native.subject == "CN=bob")
    }
}

extension Before: StreamDelegate {
    func stream(_ stream: Stream, handle event: Stream.Event) {
        switch (stream, event) {
        case (let output as OutputStream, .hasSpaceAvailable):
            _ = output.write("first line", maxLength: 10)
        case (let input as InputStream, .hasBytesAvailable):
            var bytes = [UInt8](repeating: 0, count: 1_024)
            print(input.read(&bytes, maxLength: bytes.count))
        case (_, .endEncountered), (_, .errorOccurred): stream.close()
        default: break
        }
    }
}
