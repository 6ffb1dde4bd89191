import Foundation
import Multipeer

/// One session of a shim and what belongs to it.
final class ShimSubject: Sendable {
    /// What the other side of the pipe may refer to.
    struct Things: Sendable {
        var outgoing: [Int: OutgoingStream] = [:]
        var incoming: [Int: (stream: IncomingStream, gate: ShimGate)] = [:]
        var sent: [Int: OutgoingResource] = [:]
        var offered: [Int: IncomingResource] = [:]
        var invitations: [Int: Invitation] = [:]
        var inviting: [UID: Task<Void, Never>] = [:]
        var peers: [UID: (peer: PeerID, state: String)] = [:]
        /// Whether streams that come are not read.
        var holdsStreams = false
        var advertiser: Advertiser?
        var browser: Browser?
    }

    let options: ShimOptions
    let session: Session
    let things = Locked(Things())
    /// Closed while the application takes nothing of the session.
    let gate = ShimGate()
    private let tasks = Locked<[Task<Void, Never>]>([])

    init(_ options: ShimOptions) throws(ShimFault) {
        self.options = options
        do throws(MultipeerError) {
            session = try Session(peer: options.peer, configuration: options.configuration)
        } catch {
            throw .failed(ShimReason(error))
        }
    }

    var name: String { options.peer.displayName }

    /// Goes on until the subject is left.
    func keep(_ task: Task<Void, Never>) { tasks.withLock { $0.append(task) } }

    /// Says goodbye, and forgets everything.
    func leave() async {
        gate.open()
        let (advertiser, browser, gates) = things.withLock { things in
            defer { (things.advertiser, things.browser) = (nil, nil) }
            return (things.advertiser, things.browser, things.incoming.values.map(\.gate))
        }
        for gate in gates { gate.open() }
        await advertiser?.stop()
        await browser?.stop()
        await session.disconnect()
        for task in tasks.withLock({ $0 }) { task.cancel() }
    }
}

/// Where somebody waits who may not go on.
final class ShimGate: Sendable {
    private let waiters = Locked<[Promise<Void>]?>(nil)

    func close() { waiters.withLock { $0 = $0 ?? [] } }

    func open() {
        let waiting = waiters.withLock { $0.take() } ?? []
        for signal in waiting { signal.send(()) }
    }

    /// Returns when it is open.
    func passed() async {
        let signal = waiters.withLock { waiters -> Promise<Void>? in
            guard waiters != nil else { return nil }
            let signal = Promise<Void>()
            waiters?.append(signal)
            return signal
        }
        await signal?.value()
    }
}
