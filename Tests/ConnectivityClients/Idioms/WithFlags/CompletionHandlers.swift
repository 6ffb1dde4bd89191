// mode: Swift 5
// flags: -swift-version 5

import MultipeerConnectivity

// idiom: a completion handler that is passed on

final class FileService {
    let session = MCSession(peer: MCPeerID(displayName: "files"))

    func send(_ url: URL, to peers: [MCPeerID], completion: ((Error?) -> Void)?) -> [Progress?] {
        peers.map {
            session.sendResource(at: url, withName: "file", toPeer: $0, withCompletionHandler: completion)
        }
    }
}

// idiom: a protocol with sendResource that the session conforms to

protocol FileSending: AnyObject {
    func sendResource(
        at resourceURL: URL, withName resourceName: String, toPeer peerID: MCPeerID,
        withCompletionHandler completionHandler: ((Error?) -> Void)?
    ) -> Progress?
}

extension MCSession: FileSending {}

// idiom: failures counted in a captured variable, with a dispatch group

func sendToAll(_ url: URL, in session: MCSession, then finish: @escaping (Int) -> Void) {
    let group = DispatchGroup()
    var failures = 0
    for peer in session.connectedPeers {
        group.enter()
        session.sendResource(at: url, withName: url.lastPathComponent, toPeer: peer) { error in
            if error != nil { failures += 1 }
            group.leave()
        }
    }
    group.notify(queue: .main) { finish(failures) }
}

// idiom: a main-actor view model that changes its property in the handler

@MainActor
final class SendModel {
    private(set) var isSending = false

    func send(_ url: URL, to peer: MCPeerID, in session: MCSession) {
        isSending = true
        session.sendResource(at: url, withName: "photo", toPeer: peer) { [weak self] _ in
            self?.isSending = false
        }
    }
}

// idiom: a session for tests that completes every file at once

final class InstantSession: MCSession {
    private(set) var files: [URL] = []

    override func sendResource(
        at resourceURL: URL, withName resourceName: String, toPeer peerID: MCPeerID,
        withCompletionHandler completionHandler: ((Error?) -> Void)? = nil
    ) -> Progress? {
        files.append(resourceURL)
        completionHandler?(nil)
        return Progress(totalUnitCount: 1)
    }
}

// idiom: sendResource as a function value

typealias SendFile = (URL, String, MCPeerID, ((Error?) -> Void)?) -> Progress?

func fileSender(of session: MCSession) -> SendFile {
    session.sendResource(at:withName:toPeer:withCompletionHandler:)
}
