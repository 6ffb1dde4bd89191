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

/// Takes a picture of a sky that is made up: the same number is the same tile.
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

/// Counts what is bright and hangs together.
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

/// Scans tiles for whoever holds it, here or in another process.
distributed actor Observatory {
    typealias ActorSystem = PeerActorSystem

    distributed func scan(_ tile: Tile) async throws -> Int {
        try await Task.sleep(for: .milliseconds(200))  // the light takes its time
        return countStars(on: tile)
    }
}

/// Can be found, and lets in whoever invites.
func wait(_ session: Session) async throws {
    let advertiser = try Advertiser(peer: session.peer, service: "sky")
    try await advertiser.start()
    for await invitation in advertiser.invitations {
        do {
            try await invitation.accept(into: session)
        } catch {
            print("the invitation of \(invitation.inviter) came to nothing: \(error)")
        }
    }
}

/// Invites everybody who is found.
func gather(_ session: Session) async {
    do {
        let browser = try Browser(peer: session.peer, service: "sky")
        try await browser.start()
        for await case .found(let found) in browser.events {
            do {
                try await browser.invite(found.peer, to: session)
            } catch {
                print("\(found.peer) does not come: \(error)")  // others may
            }
        }
    } catch {
        print("nobody can be found: \(error)")
    }
}

let name = CommandLine.arguments.dropFirst().first ?? "ann"
let people = CommandLine.arguments.dropFirst(2).first.flatMap { Int($0) }  // how many others are waited for
var configuration = Session.Configuration()
configuration.listenAddresses = DiscoveryConfiguration.standard.listening
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
