import Foundation
import MultipeerTransport

/// A program with a shim that accepts every invitation by itself, as a peer does that is judged from outside.
package final class AcceptingPeer: Sendable {
    private struct Progress {
        var isOver = false
        var result: Result<UInt16, any Error>?
    }

    private let progress = Locked(Progress())
    private let isReady = DispatchSemaphore(value: 0)
    private let isGone = DispatchSemaphore(value: 0)

    /// Starts the program with this command line, on a thread of its own.
    package init(shim: String) {
        let thread = Thread { [self] in
            let caseRun = CaseRun(
                .testerLower, shim: shim, random: SplitMix64(seed: 1, name: "accepting peer"))
            do { try serve(caseRun) } catch { tell(.failure(error)) }
            caseRun.quit()
            isGone.signal()
        }
        thread.stackSize = 4 << 20
        thread.start()
    }

    /// Waits until it accepts invitations, and returns where.
    package func address() throws -> OutsidePeer.Address {
        isReady.wait()
        defer { isReady.signal() }
        guard let port = try progress.withLock({ try $0.result?.get() }),
            let address = OutsidePeer.Address("127.0.0.1:\(port)")
        else { throw SuiteFault("the peer does not advertise") }
        return address
    }

    /// Ends the process.
    package func stop() {
        progress.withLock { $0.isOver = true }
        isGone.wait()
    }

    private func tell(_ result: Result<UInt16, any Error>) {
        let isFirst = progress.withLock { progress in
            defer { progress.result = progress.result ?? result }
            return progress.result == nil
        }
        if isFirst { isReady.signal() }
    }

    private func serve(_ caseRun: CaseRun) throws {
        let (session, port) = try caseRun.advertiser()
        tell(.success(port))
        while !progress.withLock(\.isOver), try caseRun.subject().isRunning {
            guard let question = session.event("invitation", within: .milliseconds(20)) else { continue }
            _ = try session.answer(question, true)
        }
    }
}
