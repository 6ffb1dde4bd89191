// mode: Swift 5
// flags: -swift-version 5

// idiom: a subject of Combine
// why: There is no Combine on Linux.
// instead: Use an asynchronous stream, or a small subject of your own.

#if !INSTEAD
    // error: no such module 'Combine'
    import Combine
#endif
import MultipeerConnectivity

#if INSTEAD
    final class Messages {
        let (stream, continuation) = AsyncStream<(Data, String)>.makeStream()
        func add(_ data: Data, from peer: MCPeerID) { continuation.yield((data, peer.displayName)) }
    }
#else
    final class Messages {
        let subject = PassthroughSubject<(Data, MCPeerID), Never>()
        func add(_ data: Data, from peer: MCPeerID) { subject.send((data, peer)) }
    }
#endif
