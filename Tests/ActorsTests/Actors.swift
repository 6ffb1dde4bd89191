import Distributed
import Foundation
import MultipeerActors
import MultipeerCore
import MultipeerTransport

/// An error that both sides have registered.
struct Mishap: Error, Codable, Equatable {
    let depth: Int
}

/// An error that is not registered.
struct Secret: Error, CustomStringConvertible {
    let description = "the drawer is stuck"
}

/// An error with a long text.
struct Tirade: Error, CustomStringConvertible {
    let description = String(repeating: "ä", count: 2_000)
}

struct Tile: Codable, Equatable, Sendable {
    var name: String
    var pixels: [UInt8]
    var marks: [String: Double] = [:]
}

@Resolvable
protocol Greeter: DistributedActor where ActorSystem == PeerActorSystem {
    distributed func greet(_ name: String) -> String
    distributed func echo<Value: Codable & Sendable>(_ value: Value) -> String
    distributed func ignore(_ bytes: ByteStream)
}

/// Has a word in common with its module: the compiler writes it once.
@Resolvable
protocol ActorsHost: DistributedActor where ActorSystem == PeerActorSystem {
    distributed func welcome(_ name: String) -> String
}

distributed actor Innkeeper: ActorsHost {
    typealias ActorSystem = PeerActorSystem
    distributed func welcome(_ name: String) -> String { "come in, \(name)" }
}

distributed actor Counter: Greeter {
    typealias ActorSystem = PeerActorSystem

    @TaskLocal static var mark = "none"

    private var total = 0

    distributed func found(as key: String) -> Int {
        actorSystem.receptionist.find(Counter.self, as: key).count
    }

    distributed func marked() -> String { Counter.mark }

    distributed func add(_ number: Int) -> Int {
        total += number
        return total
    }

    distributed func reset() { total = 0 }
    distributed var current: Int { total }
    distributed func mirror(_ tile: Tile) -> Tile { tile }
    distributed func fail(_ depth: Int) throws { throw Mishap(depth: depth) }
    distributed func failAtLength() throws { throw Tirade() }
    distributed func failStrangely() throws { throw Secret() }
    distributed func failByCancelling() throws { throw CancellationError() }
    distributed func describe<Value: Codable & Sendable>(_ value: Value) -> String { "\(value)" }
    distributed func caller() -> String { PeerActorSystem.caller?.displayName ?? "nobody" }
    distributed func repeated(_ count: Int) -> [UInt8] { [UInt8](repeating: 7, count: count) }
    distributed func greet(_ name: String) -> String { "hello \(name), \(total)" }

    distributed func echo<Value: Codable & Sendable>(_ value: Value) -> String { "\(value)" }
    distributed func ignore(_ bytes: ByteStream) {}

    /// Calls back the actor that is passed to it.
    distributed func descend(_ depth: Int, with other: Counter) async throws -> Int {
        depth == 0 ? 0 : 1 + (try await other.descend(depth - 1, with: self))
    }

    distributed func length(of bytes: ByteStream) async throws -> Int {
        var length = 0
        for try await piece in bytes { length += piece.count }
        return length
    }

    /// Reads one piece and releases the rest.
    distributed func beginning(of bytes: ByteStream) async throws -> Int {
        for try await piece in bytes { return piece.count }
        return 0
    }

    distributed func count(to end: Int) -> ByteStream {
        let (stream, writer) = ByteStream.make()
        Task {
            for number in 0..<end {
                try await writer.write([UInt8](repeating: UInt8(number & 255), count: 1_000))
            }
            writer.finish()
        }
        return stream
    }

    distributed func contents(of file: SentFile) async throws -> [UInt8] {
        let place = try await file.receive()
        defer { try? FileManager.default.removeItem(at: place) }
        return Array(try Data(contentsOf: place))
    }

    distributed func file(at path: String) -> SentFile { SentFile(URL(fileURLWithPath: path)) }
}

/// The state of a distributed actor that tests read without calling it.
final class Watch: Sendable {
    let began = Promise<Void>()
    let cancelled = Promise<Void>()
    /// On which it was cancelled.
    let thread = Promise<String>()
    let running = Locked(0)
    let most = Locked(0)
    /// Calls that wait to be released.
    let gate = Locked<[Promise<Void>]>([])

    func enter() {
        let now = running.withLock { running in
            running += 1
            return running
        }
        most.withLock { $0 = max($0, now) }
    }

    func leave() { running.withLock { $0 -= 1 } }

    func open() {
        let waiting = gate.withLock { gate in
            defer { gate = [] }
            return gate
        }
        for signal in waiting { signal.send(()) }
    }
}

/// An actor that waits, and reports it.
distributed actor Sleeper {
    typealias ActorSystem = PeerActorSystem
    private let watch: Watch

    init(_ watch: Watch, actorSystem: PeerActorSystem) {
        self.watch = watch
        self.actorSystem = actorSystem
    }

    /// Returns only when it is cancelled.
    distributed func sleep() async throws -> Int {
        watch.began.send(())
        do {
            try await Task.sleep(for: .seconds(600))
        } catch {
            watch.cancelled.send(())
            throw error
        }
        return 1
    }

    distributed func pass() async -> Int {
        watch.enter()
        await Task.yield()
        try? await Task.sleep(for: .milliseconds(2))
        watch.leave()
        return 1
    }

    distributed func relay(to other: Sleeper) async throws -> Int { try await other.sleep() }

    distributed func handleCancellation() async throws {
        try await withTaskCancellationHandler {
            watch.began.send(())
            try await Task.sleep(for: .seconds(600))
        } onCancel: {
            watch.thread.send(Thread.current.name ?? "")
        }
    }

    /// Returns when it is released, and ignores cancellation.
    distributed func insist() async -> Int {
        watch.began.send(())
        let signal = Promise<Void>()
        watch.gate.withLock { $0.append(signal) }
        await signal.value()
        return 1
    }
}

/// Has nothing in common with a counter, in memory least of all.
distributed actor Vault {
    typealias ActorSystem = PeerActorSystem
    private var words = ["one", "two", "three"]
    private var name = String(repeating: "long enough to live elsewhere ", count: 4)

    distributed func open() -> String { words.joined() + name }
    distributed func rename(_ name: String) { self.name = name }

    distributed actor Drawer {
        typealias ActorSystem = PeerActorSystem
        distributed func pull() -> Int { 1 }
    }
}

distributed actor Box<Content: Codable & Sendable> {
    typealias ActorSystem = PeerActorSystem
    private var content: Content

    init(_ content: Content, actorSystem: PeerActorSystem) {
        self.content = content
        self.actorSystem = actorSystem
    }

    distributed func get() -> Content { content }
    distributed func put(_ content: Content) { self.content = content }
    distributed func put<Label: Codable & Sendable>(_ content: Content, as label: Label) -> String {
        self.content = content
        return "\(label)"
    }
}

distributed actor Couple<One: Codable & Sendable, Other: Codable & Sendable> {
    typealias ActorSystem = PeerActorSystem
    private let one: One
    private let other: Other

    init(_ one: One, _ other: Other, actorSystem: PeerActorSystem) {
        self.one = one
        self.other = other
        self.actorSystem = actorSystem
    }

    distributed func second() -> Other { other }
    distributed func swapped(_ other: Other, _ one: One) -> String { "\(other)\(one)" }
}

/// Its methods have several generic parameters, and nothing makes a peer name all of them.
distributed actor Merger {
    typealias ActorSystem = PeerActorSystem

    distributed func merge<One: Codable & Sendable, Other: Codable & Sendable>(
        _ one: One, with other: Other
    ) -> String { "\(one)\(other)" }

    distributed func merge<
        One: Codable & Sendable, Other: Codable & Sendable, Last: Codable & Sendable
    >(_ one: One, with other: Other, and last: Last) -> String { "\(one)\(other)\(last)" }
}
