import Foundation
import Multipeer
import MultipeerCore

/// The round-trip time of a message of 64 bytes, alone and beside a file: one of two processes, which exchange a line of
/// connection data over their standard streams.
struct Latency {
    private static let idle = 2_000
    private static let length = 64

    private let session: Session
    private let folder: URL

    /// Creates one side. `folder`: where the asking side has its file, and the other one stores it.
    init(listening address: String, in folder: String) throws {
        guard let host = SocketAddress.Host(address) else {
            throw Endurance.Failure(description: "invalid address: \(address)")
        }
        var configuration = Endurance.loopback
        configuration.listenAddresses = [SocketAddress(host, port: 0)]
        session = try Session(peer: PeerID(displayName: "latency"), configuration: configuration)
        self.folder = URL(filePath: folder)
    }

    private func link() async throws -> PeerID {
        let mine = try await session.connectionData()
        print(Data(mine.bytes).base64EncodedString())
        fflush(nil)
        guard let line = readLine(), let bytes = Data(base64Encoded: line) else {
            throw Endurance.Failure(description: "no connection data was received")
        }
        let theirs = try ConnectionData(Array(bytes))
        try await session.connect(with: theirs)
        return theirs.peer
    }

    /// Answers every message with itself, and takes every file.
    func answer() async throws {
        let peer = try await link()
        for await event in session.events {
            switch event {
            case .message(let message): try await session.send(message.bytes, to: peer)
            case .resource(let resource):
                Task {
                    let received = try await resource.receive(into: folder)
                    try FileManager.default.removeItem(at: received.url)
                }
            case .peer(peer, .notConnected): return
            default: break
            }
        }
    }

    /// Measures, and prints the results as JSON, in milliseconds.
    func ask(mebibytes: Int, seconds: Double) async throws {
        let peer = try await link()
        let questions = Questions(session, peer)
        _ = try await questions.ask { $0 < 200 }
        let idle = try await questions.ask { $0 < Latency.idle }
        let file = folder.appending(path: "file")
        try Data().write(to: file)
        try FileHandle(forWritingTo: file).truncate(atOffset: UInt64(mebibytes) << 20)
        let start = ContinuousClock.now
        let resource = try await session.send(file: file, to: peer, digest: false)
        let isOver = Flag()
        let completion = Task {
            defer { isOver.raise() }
            try await resource.waitUntilReceived()
        }
        let loaded = try await questions.ask { _ in
            !isOver.isRaised && start.duration(to: .now).seconds < seconds
        }
        let bytes = await Latency.completed(resource)
        let time = start.duration(to: .now).seconds
        resource.cancel()
        _ = try? await completion.value
        await session.disconnect()
        let figures: [String: Double] = [
            "idle50": idle.quantile(0.5).seconds * 1_000, "idle99": idle.quantile(0.99).seconds * 1_000,
            "loaded50": loaded.quantile(0.5).seconds * 1_000,
            "loaded99": loaded.quantile(0.99).seconds * 1_000,
            "loadedMost": loaded.quantile(1).seconds * 1_000, "questions": Double(loaded.count),
            "mebibytes": Double(bytes) / 1_048_576, "seconds": time,
        ]
        print(String(decoding: try JSONEncoder().encode(figures), as: UTF8.self))
    }

    private static func completed(_ resource: OutgoingResource) async -> UInt64 {
        for await progress in resource.progress { return progress.completedBytes }
        return 0
    }

    /// A flag that one task sets for another.
    private final class Flag: Sendable {
        private let state = Locked(false)
        var isRaised: Bool { state.withLock { $0 } }
        func raise() { state.withLock { $0 = true } }
    }

    /// One question at a time.
    private struct Questions {
        private let session: Session
        private let peer: PeerID
        private let question = [UInt8](repeating: 0x3f, count: Latency.length)

        init(_ session: Session, _ peer: PeerID) {
            self.session = session
            self.peer = peer
        }

        func ask(while isWanted: (Int) -> Bool) async throws -> Distribution {
            var times: [Duration] = []
            while isWanted(times.count) {
                let start = ContinuousClock.now
                try await session.send(question, to: peer)
                try await hear()
                times.append(start.duration(to: .now))
            }
            return Distribution(times)
        }

        private func hear() async throws {
            for await event in session.events {
                switch event {
                case .message: return
                case .peer(_, .notConnected(let reason)):
                    throw Endurance.Failure(description: "the link ended: \(reason)")
                default: break
                }
            }
        }
    }
}
