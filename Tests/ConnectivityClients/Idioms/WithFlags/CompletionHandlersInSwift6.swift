// mode: Swift 6
// flags: -swift-version 6

import MultipeerConnectivity

// idiom: a completion handler that is passed on

final class FileService {
    let session = MCSession(peer: MCPeerID(displayName: "files"))

    func send(_ url: URL, to peer: MCPeerID, completion: (((any Error)?) -> Void)?) -> Progress? {
        session.sendResource(at: url, withName: "file", toPeer: peer, withCompletionHandler: completion)
    }
}

// idiom: a completion handler that captures an object which is not Sendable

final class Outgoing {
    private(set) var errors: [any Error] = []

    func send(_ url: URL, to peer: MCPeerID, in session: MCSession) {
        session.sendResource(at: url, withName: "file", toPeer: peer) { error in
            if let error { self.errors.append(error) }
        }
    }
}

// idiom: a protocol with sendResource that the session conforms to

protocol FileSending: AnyObject {
    func sendResource(
        at resourceURL: URL, withName resourceName: String, toPeer peerID: MCPeerID,
        withCompletionHandler completionHandler: (((any Error)?) -> Void)?
    ) -> Progress?
}

extension MCSession: FileSending {}
