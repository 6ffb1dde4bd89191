import MultipeerCore
import MultipeerFraming
import MultipeerHandshake

extension FuzzBody {
    /// A script of connections, frames, answers and time for one end of invitations; the first byte says which.
    package static let invitation = FuzzBody("invitation") { bytes throws(BrokenPromise) in
        var input = InputReader(bytes)
        guard let cast = InvitationFixture.standard else { return }
        if input.byte() & 1 == 0 {
            var stage = InviteeStage(cast)
            var steps = 0
            while !input.isAtEnd, steps < 400 {
                steps += 1
                try stage.step(&input)
            }
            try stage.settle()
        } else {
            guard var stage = InviterStage(cast, seed: input.byte()) else { return }
            var steps = 0
            while !input.isAtEnd, steps < 400 {
                steps += 1
                try stage.step(&input)
            }
            try stage.settle()
        }
    }
}

/// The peers of invitations, and the connection data of all of them for each other.
struct InvitationFixture: Sendable {
    /// The first is the one whose machine is under test.
    let peers: [PeerID]
    let blobs: [[ConnectionData]]

    static let standard = try? InvitationFixture()

    private init() throws {
        peers = try (0..<24).map { try PeerID(validating: UID(high: 0, low: $0), displayName: "peer \($0)") }
        let endpoints = peers.map { Endpoint(uid: $0.uid, instance: 1) }
        blobs = try endpoints.map { from in
            // For the one under test, for another peer, for any peer.
            try [endpoints[0].uid, endpoints[1].uid, nil].map {
                try MeshFixture.data(of: from, flags: [], for: $0)
            }
        }
    }

    static func frame(_ frame: Frame) -> [UInt8] {
        var buffer = ByteBuffer()
        frame.encode(into: &buffer)
        return buffer.takeAll()
    }
}

extension InputReader {
    /// Returns a duration, from a millisecond to longer than any invitation.
    mutating func duration() -> Duration {
        let steps: [Duration] = [
            .milliseconds(1), .milliseconds(90), .milliseconds(500), .seconds(1), .seconds(2), .seconds(5),
            .seconds(31), .seconds(601),
        ]
        return steps[Int(byte() & 7)]
    }

    /// Returns any frame that an invitation may carry, or something that is no frame.
    mutating func anyFrame() -> [UInt8] {
        let kinds: [FrameKind] = [.invite, .answer, .complete, .close, .hello, .message]
        let kind = kinds[Int(byte()) % kinds.count]
        let payload = bytes(Int(byte()))
        var buffer = ByteBuffer()
        buffer.appendFrame(kind, payload: payload.span)
        return buffer.takeAll()
    }
}
