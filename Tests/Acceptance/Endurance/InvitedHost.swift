import Foundation
import Multipeer
import MultipeerCore
import MultipeerFigures
import MultipeerHandshake
import MultipeerTransport

/// A peer that is invited by a crowd, and one honest peer that invites it all the time.
///
/// It prints its uid and its port, then does its work until its standard input ends, and prints what it has seen: one
/// JSON object. Unknown inviters are declined after a while; the honest one, which is known by its name, is accepted.
final class InvitedHost: Sendable {
    private let peer: PeerID
    private let listener: InvitationListener
    private let honest: PeerID
    private let figures = Locked(Figures())

    private struct Figures {
        var asked = 0
        var taken: [QuestionID: ReceivedInvitation] = [:]
        /// The most invitations that were open at once.
        var most = 0
        /// Invitations from an inviter with another open one.
        var repeated = 0
        var honest: [String] = []
        var slowest = Duration.zero
    }

    init() throws {
        peer = try PeerID(displayName: "host")
        honest = try PeerID(displayName: "honest")
        listener = try InvitationListener(peer: peer, listening: [.loopback])
    }

    func run() async throws {
        let port = try await listener.start()
        print("\(peer.uid.bytes.map { String(format: "%02x", $0) }.joined()) \(port)")
        fflush(nil)
        let answering = Task { await answer() }
        let inviting = Task { try await invite(at: SocketAddress.loopback.with(port: port)) }
        await withCheckedContinuation { (over: CheckedContinuation<Void, Never>) in
            Thread {
                while readLine() != nil {}; over.resume()
            }.start()
        }
        inviting.cancel()
        _ = await inviting.result
        await listener.stop()
        await answering.value
        let seen = figures.withLock { $0 }
        let failures = seen.honest.filter { $0 != "accepted" }
        let words: [String: Any] = [
            "asked": seen.asked, "most": seen.most, "repeated": seen.repeated, "honest": seen.honest.count,
            "failures": failures,
            "slowest": Double(seen.slowest.components.seconds)
                + Double(seen.slowest.components.attoseconds) / 1e18,
        ]
        print(String(decoding: try JSONSerialization.data(withJSONObject: words), as: UTF8.self))
    }

    private func answer() async {
        await withTaskGroup(of: Void.self) { group in
            for await question in listener.questions {
                // First those that were not taken: what is still open after that was open then, too.
                let waiting = listener.questions.count
                figures.withLock { seen in
                    let others = seen.taken.values.filter { !$0.ending.isSent }
                    seen.asked += 1
                    if !question.ending.isSent, others.contains(where: { $0.inviter == question.inviter }) {
                        seen.repeated += 1
                    }
                    seen.most = max(seen.most, others.count + waiting + (question.ending.isSent ? 0 : 1))
                    seen.taken[question.id] = question
                }
                group.addTask { await self.decide(question) }
            }
        }
    }

    /// Decides an invitation; one that its inviter withdraws meanwhile is over without an answer.
    private func decide(_ question: ReceivedInvitation) async {
        if question.inviter == honest {
            if let data = try? honestData() { _ = try? await listener.accept(question.id, with: data) }
        } else {
            let timeLimit = Task {
                try? await Task.sleep(for: .milliseconds(100))
                try? await listener.refuse(question.id)
            }
            _ = await question.ending.value()
            timeLimit.cancel()
        }
        figures.withLock { $0.taken[question.id] = nil }
    }

    private func invite(at address: SocketAddress) async throws {
        while !Task.isCancelled {
            let start = ContinuousClock.now
            var outcome = "accepted"
            do throws(InvitationFault) {
                _ = try await InvitationClient.invite(
                    peer, at: [address], as: honest,
                    data: { (_) throws(MultipeerError) in try self.hostData() })
            } catch {
                outcome = "\(error)"
            }
            if Task.isCancelled { return }
            figures.withLock { [passed = ContinuousClock.now - start] seen in
                seen.honest.append(outcome)
                seen.slowest = max(seen.slowest, passed)
            }
            try await Task.sleep(for: .milliseconds(200))
        }
    }

    private func honestData() throws(MultipeerError) -> ConnectionData { try data(of: peer, for: honest) }
    private func hostData() throws(MultipeerError) -> ConnectionData { try data(of: honest, for: peer) }

    /// Returns connection data that is never used.
    private func data(of one: PeerID, for other: PeerID) throws(MultipeerError) -> ConnectionData {
        let local = LocalPeer(peer: one, instance: 1, preference: .none, hasIdentity: false, fingerprint: nil)
        var session = LinkEstablishment(local, seed: 1)
        let nowhere = [Candidate(address: [127, 0, 0, 1], port: 1_024)].compactMap { $0 }
        do throws(InvalidConnectionData) {
            return try session.connectionData(
                for: other.uid, candidates: nowhere, token: [UInt8](repeating: 1, count: 32),
                at: EventLoop.currentMoment())
        } catch {
            throw MultipeerError(.invalidConnectionData, error.description)
        }
    }
}
