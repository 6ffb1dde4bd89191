import Distributed
import Foundation
import Multipeer
import MultipeerActors

/// A square of the sky, one byte for each pixel.
struct Tile: Codable, Sendable {
    let number: Int
    let size: Int
    let pixels: [UInt8]
}

/// Returns a picture of an invented sky: the same number gives the same tile.
func photograph(_ number: Int, size: Int = 128) -> Tile {
    var state = UInt64(number) &+ 1
    func chance(_ bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % bound
    }
    var pixels = (0..<size * size).map { _ in UInt8(20 + chance(20)) }
    for _ in 0...chance(20) {
        let corner = chance(size - 3) * size + chance(size - 3)
        for row in 0..<3 { for column in 0..<3 { pixels[corner + row * size + column] = 200 } }
    }
    return Tile(number: number, size: size, pixels: pixels)
}

/// Counts groups of connected bright pixels.
func countStars(on tile: Tile) -> Int {
    var isBright = tile.pixels.map { $0 > 100 }
    var count = 0
    for first in isBright.indices where isBright[first] {
        count += 1
        var island = [first]
        while let pixel = island.popLast() {
            guard isBright[pixel] else { continue }
            isBright[pixel] = false
            for next in [pixel - 1, pixel + 1, pixel - tile.size, pixel + tile.size]
            where isBright.indices.contains(next) { island.append(next) }
        }
    }
    return count
}

/// Why a scan failed. The caller receives it with its type.
struct Clouds: Error, Codable {
    let tile: Int
}

/// Scans tiles for its callers, in this process or in another one.
distributed actor Observatory {
    typealias ActorSystem = PeerActorSystem

    distributed func scan(_ tile: Tile) async throws -> Int {
        try await Task.sleep(for: .milliseconds(200))  // the exposure
        // There are clouds now and then, but not for local calls, which have no caller.
        if tile.number % 10 == 3, PeerActorSystem.caller != nil { throw Clouds(tile: tile.number) }
        return countStars(on: tile)
    }
}

/// Decides which tile is scanned where, and has no side effects.
struct Survey {
    let tiles: Int
    let home: ActorID
    private var waiting: [Int]
    private var urgent: [Int] = []
    private var inHand: [ActorID: Set<Int>] = [:]
    private(set) var stars: [Int: Int] = [:]

    init(tiles: Int, home: ActorID) {
        (self.tiles, self.home) = (tiles, home)
        waiting = (0..<tiles).reversed()
    }

    var isOver: Bool { stars.count == tiles }

    mutating func join(_ site: ActorID) { inHand[site] = [] }

    /// Returns the next tile: a failed one locally, any other at the site with the fewest in progress, at most four.
    mutating func next() -> (tile: Int, site: ActorID)? {
        if let count = inHand[home]?.count, count < 4, let tile = urgent.popLast() {
            inHand[home]?.insert(tile)
            return (tile, home)
        }
        let fewest = inHand.min { $0.value.count < $1.value.count }
        guard let fewest, fewest.value.count < 4, let tile = waiting.popLast() else { return nil }
        inHand[fewest.key]?.insert(tile)
        return (tile, fewest.key)
    }

    mutating func count(_ found: Int, on tile: Int, by site: ActorID) {
        guard inHand[site]?.remove(tile) != nil else { return }  // the result is too late
        stars[tile] = found
    }

    mutating func repeatAtHome(_ tile: Int, of site: ActorID) {
        guard inHand[site]?.remove(tile) != nil else { return }
        urgent.append(tile)
    }
}

/// All events, in one sequence.
enum Event: Sendable {
    case arrived(Observatory)
    case found(Int, tile: Int, ActorID)
    case failed(any Error, tile: Int, ActorID)
}

/// Local or remote: the call looks the same.
func scan(_ tile: Int, at observatory: Observatory) async -> Event {
    do {
        return .found(try await observatory.scan(photograph(tile)), tile: tile, observatory.id)
    } catch {
        return .failed(error, tile: tile, observatory.id)
    }
}

/// Advertises the session, and accepts every invitation.
func wait(_ session: Session) async throws {
    let advertiser = try Advertiser(peer: session.peer, service: "sky")
    try await advertiser.start()
    for await invitation in advertiser.invitations {
        do {
            try await invitation.accept(into: session)
        } catch {
            print("the invitation from \(invitation.inviter) failed: \(error)")
        }
    }
}

/// Links with every peer that is found, and again when the network has failed in between.
func gather(_ session: Session) async {
    do {
        let browser = try Browser(peer: session.peer, service: "sky")
        try await browser.run(linking: session) { _ in
            true
        } onFailure: {
            print("no link with \($0): \($1)")
        }
    } catch {
        print("cannot find peers: \(error)")
    }
}

let name = CommandLine.arguments.dropFirst().first ?? "ann"
let people = CommandLine.arguments.dropFirst(2).first.flatMap { Int($0) }  // the number of peers to wait for
var configuration = Session.Configuration()
configuration.listenAddresses = DiscoveryConfiguration.standard.listenAddresses
let session = try Session(peer: PeerID(displayName: name), configuration: configuration)
let system = try await PeerActorSystem(session)
try system.register(Observatory.self)  // what peers may call
try system.register(error: Clouds.self)  // and the errors that it may throw
let home = Observatory(actorSystem: system)
try system.receptionist.checkIn(home, as: "observatories")

guard let people else {
    try await wait(session)
    exit(0)
}
let gathering = Task { await gather(session) }

let (events, telling) = AsyncStream<Event>.makeStream()
let watching = Task {
    for await observatory in system.receptionist.checkIns(of: Observatory.self, as: "observatories") {
        telling.yield(.arrived(observatory))
    }
}
var survey = Survey(tiles: 600, home: home.id)
var observatories: [ActorID: Observatory] = [:]
for await event in events {
    switch event {
    case .arrived(let observatory):
        observatories[observatory.id] = observatory
        survey.join(observatory.id)
    case .found(let found, let tile, let site):
        survey.count(found, on: tile, by: site)
        print("tile \(tile): \(found) stars, says \(site.peer)")
    case .failed(let error, let tile, let site):
        survey.repeatAtHome(tile, of: site)
        print("tile \(tile) failed at \(site.peer): \(error)")
    }
    if survey.isOver { break }
    while observatories.count > people, let (tile, site) = survey.next() {
        guard let observatory = observatories[site] else { continue }
        Task(priority: site == home.id ? .high : nil) { telling.yield(await scan(tile, at: observatory)) }
    }
}
print("\(survey.stars.values.reduce(0, +)) stars on \(survey.stars.count) tiles")
gathering.cancel()
watching.cancel()
await session.disconnect()
