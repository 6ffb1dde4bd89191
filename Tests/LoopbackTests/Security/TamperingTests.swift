import Multipeer
import MultipeerCore
import MultipeerHandshake
import MultipeerMesh
import MultipeerTransport
import TestSupport
import Testing

@Suite("4 Connection data changed in transit", .inTurns)
struct TamperingTests {
    /// One change of connection data in transit, and the result for its holder.
    struct Change: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let holder: DisconnectReason.Code
        /// Why the holder's last attempt failed, when it went on until its timeout.
        let detail: String
        let apply: @Sendable (Blob) -> Blob

        init(
            _ name: String, _ holder: DisconnectReason.Code = .timedOut, _ detail: String = "UNKNOWN_PEER",
            _ apply: @escaping @Sendable (Blob) -> Blob
        ) {
            testDescription = name
            self.holder = holder
            self.detail = detail
            self.apply = apply
        }
    }

    /// What both kinds of sessions are refused for.
    static let changes = [
        Change("peer") { $0.flipping(Blob.peer, byteFromEnd: 3) },
        Change("name") { $0.flipping(Blob.peer) },
        Change("instance") { $0.flipping(Blob.instance) },
        Change("token") { $0.flipping(Blob.token) },
        Change("lifetime") { $0.flipping(Blob.lifetime) },
        Change("candidate port", .timedOut, "") { $0.with(Blob.candidate, [4, 0x04, 0x01, 127, 0, 0, 1]) },
        Change("flag of datagrams") { $0.flippingFlag(4) },
        Change("another's recipient", .unknownPeer, "") {
            $0.with(Blob.recipient, [UInt8](repeating: 7, count: 16))
        },
    ]
    static let encryptedChanges =
        changes + [
            Change("preference optional") { $0.with(Blob.preference, [0]) },
            Change("preference none", .policy, "") { $0.plain },
            Change("fingerprint", .timedOut, "certificate") { $0.flipping(Blob.fingerprint) },
        ]
    static let plainChanges =
        changes + [
            Change("preference required", .policy, "") { $0.encrypted(1) },
            Change("preference optional") { $0.encrypted(0) },
        ]

    @Test(
        "between sessions that encrypt, no changed field makes a link [data.recipient] [hello.refs] [hello.receiver] [tls.pin]",
        arguments: encryptedChanges)
    func encrypted(_ change: Change) async throws {
        try await eventually { timeLimit in
            let meeting = try Meeting(
                ann: .loopback(timeLimit: timeLimit), bob: .loopback(timeLimit: timeLimit))
            let isExplained = try await expectRefusal(meeting, change)
            await meeting.end()
            return isExplained
        }
    }

    @Test(
        "between sessions that never encrypt, no changed field makes a link, and the close code says why [hello.refs]",
        arguments: plainChanges)
    func plain(_ change: Change) async throws {
        try await eventually { timeLimit in
            let (annsTap, bobsTap) = (try await Tap(), try await Tap())
            let meeting = try Meeting(
                ann: .loopback(.none, timeLimit: timeLimit).tapped(by: annsTap),
                bob: .loopback(.none, timeLimit: timeLimit).tapped(by: bobsTap))
            let isExplained = try await expectRefusal(meeting, change)
            let isClosed = await (annsTap.flows + bobsTap.flows).flatMap(\.all).contains {
                $0.contains([0, 0, 2, 5, 0, 0, 0, 0, 0, 6])
            }
            if change.holder != .timedOut { #expect(!isClosed) }
            await meeting.end()
            await annsTap.stop()
            await bobsTap.stop()
            return isExplained && isClosed == (change.holder == .timedOut)
        }
    }

    /// Returns whether the ends report the reason, if they had the time to find out.
    private func expectRefusal(_ meeting: Meeting, _ change: Change) async throws -> Bool {
        let fared = try await meeting.attempt(and: { change.apply(Blob($0)).bytes })
        let (ann, bob) = (try #require(fared.ann.error?.reason), try #require(fared.bob.error?.reason))
        #expect(ann.code == change.holder)
        #expect(bob.code == .timedOut, "\(bob)")
        #expect(await meeting.ann.connectedPeers.isEmpty)
        #expect(await meeting.bob.connectedPeers.isEmpty)
        return change.holder != .timedOut || [ann, bob].contains { $0.detail.contains(change.detail) }
    }

    @Test("without a new checksum, every changed bit is detected [data.checksum]")
    func everyBit() async throws {
        let session = try Session(peer: PeerID(displayName: "ann"), configuration: .loopback())
        let bytes = try await session.connectionData().bytes
        for bit in 0..<(bytes.count * 8) {
            var changed = bytes
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(throws: InvalidConnectionData.self) { try ConnectionData(parsing: changed) }
        }
        await session.disconnect()
    }
}
