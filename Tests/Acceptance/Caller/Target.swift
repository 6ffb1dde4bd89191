import Distributed
import MultipeerActors

/// What a target throws for every seventh number.
struct Unlucky: Error, Codable, Equatable {
    let number: Int
}

/// What everybody has, and the others call.
distributed actor Target {
    typealias ActorSystem = PeerActorSystem

    /// Answers a square, after a while of so many milliseconds.
    distributed func square(_ number: Int, after milliseconds: Int) async throws -> Int {
        try await Task.sleep(for: .milliseconds(milliseconds))
        if number % 7 == 0 { throw Unlucky(number: number) }
        return number * number
    }

    /// Calls the caller back while it is being called.
    distributed func square(_ number: Int, with other: Target) async throws -> Int {
        try await other.square(number, after: 0)
    }
}
