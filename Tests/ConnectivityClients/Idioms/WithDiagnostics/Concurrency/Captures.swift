// mode: Swift 6
// flags: -swift-version 6

// warning: add '@preconcurrency'
import MultipeerConnectivity

// Closures in Swift 6 that capture what is not Sendable, with a plain import.

// idiom: a timer's block that captures a session
// why: `MCSession` is not `Sendable`, and the block may run anywhere.
// instead: Import with `@preconcurrency`, or keep the session in a main-actor object that the block captures.

#if INSTEAD
    @MainActor
    final class Pulse {
        let session: MCSession
        init(session: MCSession) { self.session = session }

        func start() -> Timer {
            Timer.scheduledTimer(withTimeInterval: 1, repeats: true) { [weak self] _ in
                MainActor.assumeIsolated { self?.beat() }
            }
        }
        private func beat() {
            try? session.send(Data(), toPeers: session.connectedPeers, with: .unreliable)
        }
    }
#else
    func pulse(_ session: MCSession) -> Timer {
        Timer.scheduledTimer(withTimeInterval: 1, repeats: true) { _ in
            // error: capture of 'session' with non-Sendable type 'MCSession' in a '@Sendable' closure
            try? session.send(Data(), toPeers: session.connectedPeers, with: .unreliable)
        }
    }
#endif

// idiom: a Sendable structure that contains a peer
// why: `MCPeerID` is not `Sendable`.
// instead: Import with `@preconcurrency`, or store values that identify the peer.

struct Joined: Sendable {
    #if INSTEAD
        let id: Int
        let name: String
        init(_ peer: MCPeerID) { (id, name) = (peer.hash, peer.displayName) }
    #else
        // error: stored property 'peer' of 'Sendable'-conforming struct 'Joined' has non-Sendable type 'MCPeerID'
        let peer: MCPeerID
    #endif
}

// idiom: a Sendable class that contains a session
// why: `MCSession` is not `Sendable`.
// instead: Import with `@preconcurrency`, or write `@unchecked Sendable` and the rule that makes it correct.

#if INSTEAD
    final class Transport: @unchecked Sendable {
        // Unchecked: a session may be used from any thread, and this one is never replaced.
        let session: MCSession
        init(session: MCSession) { self.session = session }
    }
#else
    final class Transport: Sendable {
        // error: stored property 'session' of 'Sendable'-conforming class 'Transport' has non-Sendable type
        let session: MCSession
        init(session: MCSession) { self.session = session }
    }
#endif

// idiom: a fake advertiser that collects its delegate's answers
// why: The delegate's handler is `@Sendable` in this package, so that it may be called later from anywhere.
// instead: Protect the answers with a lock.

final class FakeAdvertiser: MCNearbyServiceAdvertiser {
    #if INSTEAD
        private let answers = Answers()
        func invite(from peer: MCPeerID) {
            let answers = answers
            delegate?.advertiser(self, didReceiveInvitationFromPeer: peer, withContext: nil) { accepted, _ in
                answers.add(accepted)
            }
        }
    #else
        private var answers: [Bool] = []
        func invite(from peer: MCPeerID) {
            delegate?.advertiser(self, didReceiveInvitationFromPeer: peer, withContext: nil) { accepted, _ in
                // warning: capture of 'self' with non-Sendable type 'FakeAdvertiser' in a '@Sendable' closure
                self.answers.append(accepted)
            }
        }
    #endif
}

final class Answers: @unchecked Sendable {
    private let lock = NSLock()
    private var all: [Bool] = []
    func add(_ answer: Bool) { lock.withLock { all.append(answer) } }
}
