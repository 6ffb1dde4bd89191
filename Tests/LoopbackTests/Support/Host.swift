import Multipeer
import MultipeerCore
import MultipeerHandshake
import MultipeerSecurity
import MultipeerTransport
import TestSupport
import Testing

/// A peer on loopback that can be invited.
struct Host: Sendable {
    let peer: PeerID
    let listener: InvitationListener
    let address: SocketAddress

    init(_ identity: Identity? = nil) async throws {
        peer =
            if let identity {
                try PeerID(displayName: "bob", identity: identity)
            } else {
                try PeerID(displayName: "bob")
            }
        listener = try InvitationListener(peer: peer, identity: identity, listening: [.loopback])
        address = SocketAddress.loopback.with(port: try await listener.start())
    }

    /// Returns the data of this peer for another.
    func data(for other: PeerID) throws -> ConnectionData { try peer.made(for: other) }

    /// Waits for the next question; fails the test when there is none in time.
    func question() async throws -> ReceivedInvitation {
        let listener = listener
        return try await within {
            var questions = listener.questions.makeAsyncIterator()
            guard let question = await questions.next() else { throw Overdue() }
            return question
        }
    }

    /// Accepts every invitation, until they end.
    func welcomeEverybody() {
        Task {
            for await question in listener.questions {
                guard let data = try? peer.made(for: question.inviter) else { continue }
                _ = try? await listener.accept(question.id, with: data)
            }
        }
    }
}

extension PeerID {
    /// Returns connection data as a session of this peer would issue it, at an address that no peer has.
    func made(
        for other: PeerID?, preference: EncryptionPreference = .required
    ) throws -> ConnectionData {
        let local = LocalPeer(
            peer: self, instance: 1, preference: preference, hasIdentity: false,
            fingerprint: preference == .none ? nil : Fingerprint([UInt8](repeating: 7, count: 32)))
        var session = LinkEstablishment(local, seed: 1)
        let nowhere = try #require(Candidate(address: [127, 0, 0, 1], port: 1_024))
        return try session.connectionData(
            for: other?.uid, candidates: [nowhere], token: [UInt8](repeating: 9, count: 32),
            at: Moment(nanoseconds: 0))
    }

    /// Invites the host, and returns how that ended.
    func invite(
        _ host: Host, context: [UInt8]? = nil, within timeout: Duration = .seconds(30)
    ) async -> Result<ConnectionData, InvitationFault> {
        await invite(host.peer, at: [host.address], context: context, within: timeout)
    }

    func invite(
        _ other: PeerID, at addresses: [SocketAddress], context: [UInt8]? = nil,
        within timeout: Duration = .seconds(30), preference: EncryptionPreference = .required
    ) async -> Result<ConnectionData, InvitationFault> {
        do throws(InvitationFault) {
            let data = try await InvitationClient.invite(
                other, at: addresses, as: self, context: context, within: timeout
            ) { (_) throws(MultipeerError) in
                guard let data = try? self.made(for: other, preference: preference) else {
                    throw MultipeerError(.system, "no data")
                }
                return data
            }
            return .success(data)
        } catch {
            return .failure(error)
        }
    }
}

/// Runs `body` with a host that can be invited.
func withHost(
    _ identity: Identity? = nil, _ body: (Host) async throws -> Void
) async throws {
    let host = try await Host(identity)
    do {
        try await body(host)
    } catch {
        await host.listener.stop()
        throw error
    }
    await host.listener.stop()
}
