import MultipeerConnectivity

/// What programs do with the handler of `sendResource`: they pass on their own, which is not `@Sendable`.
package struct ResourceSender {
    package let session: MCSession

    package init(session: MCSession) { self.session = session }

    package func send(_ url: URL, to peer: MCPeerID, completion: ((Error?) -> Void)?) -> Progress? {
        session.sendResource(at: url, withName: "file", toPeer: peer, withCompletionHandler: completion)
    }

    package func send(_ url: URL, to peer: MCPeerID, whenDone: @escaping () -> Void) {
        session.sendResource(at: url, withName: "file", toPeer: peer) { _ in whenDone() }
    }

    /// Counts in a variable that only the handler uses.
    package func sendAll(_ urls: [URL], to peer: MCPeerID, whenDone: @escaping (Int) -> Void) {
        var sent = 0
        for url in urls {
            session.sendResource(at: url, withName: url.lastPathComponent, toPeer: peer) { error in
                if error == nil { sent += 1 }
                if sent == urls.count { whenDone(sent) }
            }
        }
    }
}

/// Apple's session behind a protocol of the program's, for its own tests.
package protocol Sending {
    func sendResource(
        at resourceURL: URL, withName resourceName: String, toPeer peerID: MCPeerID,
        withCompletionHandler completionHandler: ((Error?) -> Void)?
    ) -> Progress?
}

extension MCSession: Sending {}
