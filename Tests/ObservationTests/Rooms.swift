import Foundation
import Multipeer
import MultipeerObservation
import MultipeerTransport
import TestSupport
import Testing

/// Rooms that find each other in this process, with real sessions on loopback.
@MainActor struct Rooms {
    private let network = InMemoryDiscovery()
    private let service: String

    init() {
        var randomness = SystemRandomNumberGenerator()
        service = String(
            (0..<10).map { _ in "abcdefghijklmnopqrstuvwxyz".randomElement(using: &randomness) ?? "a" })
    }

    /// Creates a room that does not run.
    func room(
        _ name: String, info: [String: String] = [:],
        session configuration: Session.Configuration = Session.Configuration()
    ) throws -> RoomModel {
        var configuration = configuration
        configuration.listenAddresses = [.loopback]
        return try RoomModel(
            peer: PeerID(displayName: name), service: service, info: info, session: configuration,
            discovery: .inMemory(network))
    }

    /// Creates rooms that run and have found each other.
    func running(_ names: String...) async throws -> [RoomModel] {
        let rooms = try names.map { try room($0) }
        for room in rooms { room.start() }
        for room in rooms { try await until { room.nearby.count == rooms.count - 1 } }
        return rooms
    }

    /// Creates rooms that run and are linked with each other.
    func linked(_ names: String...) async throws -> [RoomModel] {
        let rooms = try names.map { try room($0) }
        for room in rooms { room.start() }
        try await link(rooms)
        return rooms
    }

    /// Links running rooms: the first invites the others.
    func link(_ rooms: [RoomModel]) async throws {
        for other in rooms.dropFirst() {
            let peer = other.peer
            try await until { rooms[0].nearby.contains { $0.id == peer } }
            rooms[0].invite(peer)
            try await until { !other.invitations.isEmpty }
            other.accept(other.invitations[0])
            try await until { rooms[0].has(peer) }
        }
        for room in rooms {
            try await until { rooms.allSatisfy { $0 === room || room.has($0.peer) } }
        }
    }
}

extension RoomModel {
    /// Whether the peer is connected.
    func has(_ peer: PeerID) -> Bool { members.contains { $0.id == peer && $0.state == .connected } }
    /// The texts of all messages.
    var texts: [String] { messages.map { $0.text ?? "" } }
    /// The codes of all failures.
    var codes: [MultipeerError.Code] { failures.map(\.error.code) }
}

extension [RoomModel] {
    func stop() async { for room in self { await room.stop() } }
}

/// A directory for one test, removed with everything in it.
final class Folder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "observation-\(UUID())")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? [] }

    func file(_ name: String, _ bytes: [UInt8]) throws -> URL {
        let file = url.appending(path: name)
        try Data(bytes).write(to: file)
        return file
    }

    /// Creates a sparse file of a gibibyte, whose transfer does not end in a test.
    func endless(_ name: String) throws -> URL {
        let file = try file(name, [1])
        let handle = try FileHandle(forWritingTo: file)
        try handle.truncate(atOffset: 1 << 30)
        try handle.close()
        return file
    }
}
