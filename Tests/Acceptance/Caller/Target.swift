import Distributed
import MultipeerActors

/// The error that a target throws for every seventh number.
struct Unlucky: Error, Codable, Equatable {
    let number: Int
}

/// The actor that each member has, and the others call.
distributed actor Target {
    typealias ActorSystem = PeerActorSystem

    /// Returns a square, after that many milliseconds.
    distributed func square(_ number: Int, after milliseconds: Int) async throws -> Int {
        try await Task.sleep(for: .milliseconds(milliseconds))
        if number % 7 == 0 { throw Unlucky(number: number) }
        return number * number
    }

    /// Calls the caller back during the call.
    distributed func square(_ number: Int, with other: Target) async throws -> Int {
        try await other.square(number, after: 0)
    }
}
