import Foundation
import Multipeer
import MultipeerCommandLine

/// A file, a stream and datagrams, each counted at the receiving end.
extension DemoParticipant {
    private static let fileSize = 16 << 20
    private static let streamSize = 8 << 20
    private static let piece = 65_536
    private static let datagrams = 1_000
    private static let datagramSize = 100
    private static let together = 20
    private static let pause = Duration.milliseconds(2)
    /// The maximum number of pauses until the datagram path is up; before that, datagrams are sent over the link.
    private static let mostPauses = 1_500

    func deliver(to peer: PeerID) async throws(MultipeerError) -> DemoDelivery {
        let file = try await deliverFile(to: peer)
        let stream = try await deliverStream(to: peer)
        let arrived = try await deliverDatagrams(to: peer)
        return DemoDelivery(
            peer: peer.displayName, file: file, stream: stream, datagrams: DemoParticipant.datagrams,
            datagramBytes: DemoParticipant.datagramSize, datagramsArrived: arrived)
    }

    private func deliverFile(to peer: PeerID) async throws(MultipeerError) -> DemoTransfer {
        let name = "\(session.peer.displayName).bin"
        let url = FileManager.default.temporaryDirectory.appending(
            path: "multipeer-demo-\(UUID().uuidString)")
        guard (try? DemoParticipant.random(DemoParticipant.fileSize).write(to: url)) != nil else {
            throw MultipeerError(.system, "no space for a file in \(url.path)")
        }
        defer { try? FileManager.default.removeItem(at: url) }
        let start = ContinuousClock.now
        let told = try await answer(of: peer) { () async throws(MultipeerError) in
            let resource = try await session.send(file: url, to: peer, name: name)
            try await resource.waitUntilReceived()
            sent.withLock { $0 = resource.digest }
        }
        let time = start.duration(to: .now).seconds
        guard told == sent.withLock({ $0 }) else {
            throw MultipeerError(.damaged, "\(peer) received a different file")
        }
        return DemoTransfer(
            name: name, bytes: DemoParticipant.fileSize, seconds: time, digest: told.hexadecimal)
    }

    private func deliverStream(to peer: PeerID) async throws(MultipeerError) -> DemoTransfer {
        let bytes = [UInt8](repeating: 0x2e, count: DemoParticipant.piece)
        let start = ContinuousClock.now
        let count = try await number(of: peer) { () async throws(MultipeerError) in
            let stream = try await session.openStream(to: peer, name: "dots")
            for _ in 0..<DemoParticipant.streamSize / DemoParticipant.piece { try await stream.write(bytes) }
            try await stream.finish()
        }
        return DemoTransfer(
            name: "dots", bytes: count, seconds: start.duration(to: .now).seconds, digest: nil)
    }

    /// Returns how many arrived over UDP.
    private func deliverDatagrams(to peer: PeerID) async throws(MultipeerError) -> Int {
        let datagram = DemoMessage.datagram.message(
            [UInt8](repeating: 0, count: DemoParticipant.datagramSize - 1))
        var before = 0
        for _ in 0..<DemoParticipant.mostPauses where before == 0 {
            try await session.send(datagram, to: peer, delivery: .unreliable)
            before = try await countAtPeer(peer)
        }
        for number in 1...DemoParticipant.datagrams {
            try await session.send(datagram, to: peer, delivery: .unreliable)
            // As many at a time as fit a socket's buffer.
            if number % DemoParticipant.together == 0 { try? await Task.sleep(for: DemoParticipant.pause) }
        }
        return try await countAtPeer(peer) - before
    }

    /// Asks the peer for its count after a pause, so that datagrams in flight can arrive.
    private func countAtPeer(_ peer: PeerID) async throws(MultipeerError) -> Int {
        try? await Task.sleep(for: DemoParticipant.pause)
        return try await number(of: peer) { () async throws(MultipeerError) in
            try await session.send(DemoMessage.counting.message(), to: peer)
        }
    }

    private func number(
        of peer: PeerID, to act: () async throws(MultipeerError) -> Void
    ) async throws(MultipeerError) -> Int {
        let told = String(decoding: try await answer(of: peer, to: act), as: UTF8.self)
        guard let number = Int(told) else { throw MultipeerError(.damaged, "unexpected data from \(peer)") }
        return number
    }

    // MARK: the receiving end

    /// Replies with the digest of what was written.
    func store(_ resource: IncomingResource) async {
        guard let file = try? await resource.receive() else { return }
        try? FileManager.default.removeItem(at: file.url)
        await reply(file.digest ?? [], to: resource.peer)
    }

    /// Replies with the number of bytes after the last one.
    func read(_ stream: IncomingStream) async {
        var count = 0
        do {
            for try await bytes in stream { count += bytes.count }
            await reply(number: count, to: stream.peer)
        } catch {
            // The sender knows, and reports it to the demonstration.
        }
    }

    private static func random(_ count: Int) throws(CommandError) -> Data {
        let source = try DescriptorStream(opening: "/dev/urandom")
        defer { source.close() }
        var data = Data(capacity: count)
        while data.count < count, let bytes = try source.read(count - data.count) {
            data.append(contentsOf: bytes)
        }
        return data
    }
}
