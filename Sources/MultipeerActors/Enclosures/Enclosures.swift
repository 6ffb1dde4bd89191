import Foundation
import MultipeerTransport

/// Streams and files that are among the arguments or in the result of a call: they travel beside it.
final class Enclosures: Sendable {
    enum Enclosure: Sendable {
        case stream(Pipe)
        case file(URL)
    }

    private let state = Locked<[(token: String, enclosure: Enclosure)]>([])

    /// Those of a call that was not made.
    deinit {
        for case (_, .stream(let pipe)) in takeAll() {
            pipe.fail(ActorCallError(.cancelled, "the call that the stream belongs to was not made"))
        }
    }

    func add(_ enclosure: Enclosure) -> String {
        let token = Token.make()
        state.withLock { $0.append((token, enclosure)) }
        return token
    }

    func takeAll() -> [(token: String, enclosure: Enclosure)] {
        state.withLock { state in
            defer { state = [] }
            return state
        }
    }
}

/// What says which stream or file belongs to which argument: 32 hexadecimal digits at random.
enum Token {
    /// What the names of all streams and files of actor systems begin with.
    static let prefix = "org.swift-multipeer.actors/"

    static func make() -> String {
        var randomness = SystemRandomness()
        return [UInt64](arrayLiteral: randomness.next(), randomness.next()).map { number in
            let digits = String(number, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }

    static func isToken(_ text: String) -> Bool {
        text.utf8.count == 32 && text.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
    }
}
