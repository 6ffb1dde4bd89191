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

/// Scans tiles for its callers, in this process or in another one.
distributed actor Observatory {
    typealias ActorSystem = PeerActorSystem

    distributed func scan(_ tile: Tile) async throws -> Int {
        try await Task.sleep(for: .milliseconds(200))  // the exposure
        return countStars(on: tile)
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
let home = Observatory(actorSystem: system)
try system.receptionist.checkIn(home, as: "observatories")

guard let people else {
    try await wait(session)
    exit(0)
}
let gathering = Task { await gather(session) }
var others = 0
for await observatory in system.receptionist.checkIns(of: Observatory.self, as: "observatories") {
    print("\(try await observatory.scan(photograph(1))) stars, says \(observatory.id.peer)")
    if observatory.id != home.id { others += 1 }
    if others == people { break }
}
gathering.cancel()
await session.disconnect()
