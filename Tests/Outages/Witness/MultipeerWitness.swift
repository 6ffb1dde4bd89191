import Foundation
import Multipeer
import MultipeerOrders

/// One end of links whose network is disturbed: it links by connection data, executes commands from its standard input, and prints
/// a line for each state, message, file and stream.
@main
enum MultipeerWitness {
    static func main() async {
        let words = CommandLine.arguments
        do {
            guard words.count == 3 else {
                throw Complaint("usage: MultipeerWitness (--star NAME | NAME FOLDER)")
            }
            if words[1] == "--star" { return try await starChat(words[2]) }
            let folder = URL(fileURLWithPath: words[2], isDirectory: true)
            let witness = try Witness(words[1], in: folder)
            try await witness.publish()
            Orders.say("ready")
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await witness.watch() }
                for await line in Orders.lines() {
                    let words = line.split(separator: " ").map(String.init)
                    if words.first == "quit" { break }
                    group.addTask { await witness.obey(words) }
                }
                group.cancelAll()
            }
        } catch {
            Orders.say("failed \(error)")
            exit(1)
        }
    }
}

actor Witness {
    private nonisolated let session: Session
    private nonisolated let folder: URL
    private var lastNumber: UInt32 = 0
    /// Files that this program has open for no other reason than to have few descriptors left.
    private var held: [FileHandle] = []

    init(_ name: String, in folder: URL) throws {
        session = try Session(peer: PeerID(displayName: name))
        self.folder = folder
    }

    /// Writes its connection data to NAME.data.
    func publish() async throws {
        let data = try await session.connectionData(mesh: true)
        let place = folder.appending(path: "\(session.peer.displayName).data")
        try Data(data.bytes).write(to: place, options: .atomic)
    }

    // MARK: commands

    func obey(_ words: [String]) async {
        let numbers = words.dropFirst().compactMap(Int.init)
        do {
            switch (words.first, numbers.first, numbers.dropFirst().first) {
            case ("join", _, _): try await join(words.dropFirst())
            case ("messages", let count?, let size?): try await send(count, size)
            case ("tick", let pause?, let size?): await tick(.milliseconds(pause), size, .reliable)
            case ("unreliable", let pause?, let size?): await tick(.milliseconds(pause), size, .unreliable)
            case ("files", let count?, let size?): try await give(count, size, to: words.dropFirst(3).first)
            case ("stream", let size?, _): try await write(size)
            case ("hold", let count?, _): try hold(count)
            case ("paths", _, _): await watchPaths()
            default: throw Complaint("unknown command")
            }
            Orders.say("did \(words.joined(separator: " "))")
        } catch {
            Orders.say("refused \(words.joined(separator: " ")): \(error)")
        }
    }

    private func hold(_ count: Int) throws {
        for _ in 0..<count {
            held.append(try FileHandle(forReadingFrom: URL(fileURLWithPath: "/dev/null")))
        }
    }

    /// Connects to the peers whose connection data is in these files, at once.
    private func join(_ files: some Sequence<String>) async throws {
        try await withThrowingTaskGroup(of: Void.self) { [session] group in
            for file in files {
                let data = try ConnectionData(Array(Data(contentsOf: URL(fileURLWithPath: file))))
                group.addTask { try await session.connect(with: data) }
            }
            try await group.waitForAll()
        }
    }

    /// Sends that many messages to each peer, and waits until they have arrived.
    private func send(_ count: Int, _ size: Int) async throws {
        let peers = await session.connectedPeers
        for _ in 0..<count {
            let message = next(size)
            for peer in peers { try await session.send(message, to: peer) }
        }
        for peer in peers { try await session.waitUntilReceived(by: peer) }
    }

    /// Sends a message to each peer at intervals, for the rest of the run.
    private func tick(_ pause: Duration, _ size: Int, _ delivery: Session.Delivery) async {
        while !Task.isCancelled {
            let message = next(size)
            for peer in await session.connectedPeers {
                do {
                    try await session.send(message, to: peer, delivery: delivery)
                } catch {
                    Orders.say("unsent \(error)")
                }
            }
            try? await Task.sleep(for: pause)
        }
    }

    /// Returns a message of which every byte after the number follows from the number.
    private func next(_ size: Int) -> [UInt8] {
        lastNumber += 1
        let head = (0..<4).map { UInt8(truncatingIfNeeded: lastNumber >> (24 - 8 * $0)) }
        return head + Array(repeating: UInt8(truncatingIfNeeded: lastNumber), count: max(0, size - 4))
    }

    /// Sends a file that often, at once, to all peers or to one of them.
    private func give(_ count: Int, _ size: Int, to name: String?) async throws {
        let bytes = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
        let place = folder.appending(path: "\(session.peer.displayName).file")
        try bytes.write(to: place)
        await withTaskGroup(of: Void.self) { [session] group in
            for peer in await session.connectedPeers where name == nil || peer.displayName == name {
                for number in 1...count {
                    group.addTask {
                        do {
                            let name = "\(session.peer.displayName)-\(number)"
                            try await session.send(file: place, to: peer, name: name).waitUntilReceived()
                            Orders.say("file sent ok")
                        } catch {
                            Orders.say("file sent failed: \(error)")
                        }
                    }
                }
            }
        }
    }

    private func write(_ size: Int) async throws {
        for peer in await session.connectedPeers {
            let stream = try await session.openStream(to: peer, name: "bytes")
            var left = size
            while left > 0 {
                let count = min(left, 16_384)
                try await stream.write(Array(repeating: 0x5a, count: count))
                left -= count
            }
            try await stream.finish()
        }
    }

    // MARK: reports

    func watch() async {
        await withTaskGroup(of: Void.self) { group in
            for await event in session.events {
                switch event {
                case .message(let message): note(message)
                case .peer(let peer, let state):
                    switch state {
                    case .connecting: Orders.say("state \(peer.displayName) connecting")
                    case .connected: Orders.say("state \(peer.displayName) connected")
                    case .notConnected(let reason):
                        Orders.say("state \(peer.displayName) notConnected \(reason)")
                    }
                case .resource(let resource): group.addTask { await self.take(resource) }
                case .stream(let stream): group.addTask { await self.read(stream) }
                case .verificationRequested, .verified: break
                }
            }
        }
    }

    private func note(_ message: Session.Message) {
        let bytes = message.bytes
        let number = bytes.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        let isWhole = bytes.dropFirst(4).allSatisfy { $0 == UInt8(truncatingIfNeeded: number) }
        let how = message.delivery == .reliable ? "message" : "datagram"
        Orders.say("\(how) \(message.peer.displayName) \(number) \(bytes.count) \(isWhole ? "ok" : "wrong")")
    }

    private nonisolated func take(_ resource: IncomingResource) async {
        do {
            let file = try await resource.receive(into: folder)
            Orders.say("file received ok \(file.size)")
            try FileManager.default.removeItem(at: file.url)
        } catch {
            Orders.say("file received failed: \(error)")
        }
    }

    private nonisolated func read(_ stream: IncomingStream) async {
        var count = 0
        do {
            for try await bytes in stream { count += bytes.count }
            Orders.say("stream received ok \(count)")
        } catch {
            Orders.say("stream received failed after \(count): \(error)")
        }
    }

    /// Reports what the API says of unreliable messages, whenever it changes, for the rest of the run.
    private func watchPaths() async {
        var last: [PeerID: Bool] = [:]
        while !Task.isCancelled {
            for peer in await session.connectedPeers {
                guard let info = await session.connectionInfo(for: peer), last[peer] != info.datagrams.isUp
                else { continue }
                last[peer] = info.datagrams.isUp
                Orders.say("path \(peer.displayName) \(info.datagrams.isUp ? "up" : "down")")
            }
            try? await Task.sleep(for: .milliseconds(50))
        }
    }
}
