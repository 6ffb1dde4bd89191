// mode: Swift 5
// flags: -swift-version 5

import MultipeerConnectivity

// What Foundation for Linux does not have.

// idiom: a subclass of Thread
// why: `Thread` of Foundation for Linux has members that other modules cannot see, and so cannot be subclassed.
// instead: Use a thread with a block.

#if INSTEAD
    func startReading(_ run: @escaping @Sendable () -> Void) -> Thread {
        let thread = Thread(block: run)
        thread.start()
        return thread
    }
#else
    // error: cannot inherit from class 'Thread'
    final class ReadingThread: Thread {
        override func main() { RunLoop.current.run(until: .distantFuture) }
    }
#endif

// idiom: notifications as an asynchronous sequence
// why: Foundation for Linux has no `NotificationCenter.notifications(named:)`.
// instead: Create a stream, and yield in an observer with a block.

func count(_ name: Notification.Name) async -> Int {
    var count = 0
    #if INSTEAD
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        let token = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { _ in
            continuation.yield()
        }
        for await _ in stream.prefix(3) { count += 1 }
        NotificationCenter.default.removeObserver(token)
    #else
        // error: value of type 'NotificationCenter' has no member 'notifications'
        for await _ in NotificationCenter.default.notifications(named: name).prefix(3) { count += 1 }
    #endif
    return count
}

// idiom: a pair of bound streams
// why: Foundation for Linux has no `Stream.getBoundStreams`.
// instead: Write to an `OutputStream` in memory, or use a `Pipe`.

func memory() -> Stream {
    #if INSTEAD
        return OutputStream.toMemory()
    #else
        var (input, output): (InputStream?, OutputStream?)
        // error: type 'Stream' has no member 'getBoundStreams'
        Stream.getBoundStreams(withBufferSize: 4096, inputStream: &input, outputStream: &output)
        return output ?? OutputStream.toMemory()
    #endif
}

// idiom: a peer's certificate as a SecCertificate
// why: There is no Security framework on Linux.
// instead: The elements are `MCCertificate`; compare them, or their DER form.

func fingerprint(of certificates: [Any]?) -> Data? {
    #if INSTEAD
        return (certificates?.first as? MCCertificate)?.der
    #else
        guard let first = certificates?.first else { return nil }
        // error: cannot find 'SecCertificateCopyData' in scope
        // error: cannot find type 'SecCertificate' in scope
        return SecCertificateCopyData(first as! SecCertificate) as Data
    #endif
}

// idiom: a session with a SecIdentity
// why: There is no Security framework on Linux.
// instead: Generate or read an `MCIdentity`.

#if INSTEAD
    func secureSession(_ peer: MCPeerID) throws -> MCSession {
        let identity = try MCIdentity.generate(commonName: peer.displayName)
        return MCSession(peer: peer, securityIdentity: [identity], encryptionPreference: .required)
    }
#else
    // error: cannot find type 'SecIdentity' in scope
    func secureSession(_ peer: MCPeerID, _ identity: SecIdentity) -> MCSession {
        MCSession(peer: peer, securityIdentity: [identity], encryptionPreference: .required)
    }
#endif

// idiom: a timer whose result is ignored
// why: The result is not discardable in Foundation for Linux.
// instead: Assign it to an underscore, or store it to invalidate it later.

func everySecond(_ session: MCSession) {
    #if INSTEAD
        _ = Timer.scheduledTimer(withTimeInterval: 1, repeats: true) { _ in
            print(session.connectedPeers.count)
        }
    #else
        // warning: result of call to 'scheduledTimer(withTimeInterval:repeats:block:)' is unused
        Timer.scheduledTimer(withTimeInterval: 1, repeats: true) { _ in print(session.connectedPeers.count) }
    #endif
}
