import Foundation
import MultipeerCLI
import Testing

/// A shim as a separate process: requests, answers, and events in between.
///
/// One task at a time may use it: lines that come while another one is waited for are kept.
final class ShimProcess {
    typealias Line = [String: Any]

    let command: Command
    private var answers: [Line] = []
    private var events: [Line] = []
    private var lastID = 0

    init() throws { command = try Command(["shim"], program: "multipeer-conform") }

    /// Sends a request, and waits for the answer.
    @discardableResult
    func ask(_ op: String, _ parameters: Line = [:]) async throws -> Line {
        let id = try await post(op, parameters)
        return try await answer(id)
    }

    /// Sends a request that must succeed.
    @discardableResult
    func call(_ op: String, _ parameters: Line = [:]) async throws -> Line {
        let answer = try await ask(op, parameters)
        #expect(answer["ok"] as? Bool == true, "\(op): \(answer)")
        return answer
    }

    func post(_ op: String, _ parameters: Line = [:]) async throws -> Int {
        lastID += 1
        let request = parameters.merging(["op": op, "id": lastID]) { $1 }
        try await command.send(Array(try JSONSerialization.data(withJSONObject: request)) + [10])
        return lastID
    }

    func answer(_ id: Int?) async throws -> Line {
        try await next(\.answers) { id == nil ? $0["re"] is NSNull : $0["re"] as? Int == id }
    }

    /// Waits for an event with these texts.
    @discardableResult
    func event(_ name: String, _ texts: [String: String] = [:]) async throws -> Line {
        try await next(\.events) { line in
            line["event"] as? String == name && texts.allSatisfy { line[$0] as? String == $1 }
        }
    }

    private func next(
        _ place: ReferenceWritableKeyPath<ShimProcess, [Line]>, where fits: (Line) -> Bool
    ) async throws -> Line {
        while true {
            if let index = self[keyPath: place].firstIndex(where: fits) {
                return self[keyPath: place].remove(at: index)
            }
            let text = try await command.firstLine()
            try #require(!text.isEmpty, "the shim has ended")
            let line = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? Line)
            if line["event"] == nil { answers.append(line) } else { events.append(line) }
        }
    }
}

extension ShimProcess {
    /// Returns two shims with a session each, which have each other's data; the first has the lower uid.
    static func pair(
        _ settings: Line = [:]
    ) async throws -> (ann: ShimProcess, bob: ShimProcess) {
        let (ann, bob) = (try ShimProcess(), try ShimProcess())
        for (shim, name, uid) in [(ann, "ann", annID), (bob, "bob", bobID)] {
            try await shim.call("session", settings.merging(["name": name, "uid": uid]) { $1 })
        }
        return (ann, bob)
    }

    /// The same, and a link between them.
    static func linked(_ settings: Line = [:]) async throws -> (ann: ShimProcess, bob: ShimProcess) {
        let (ann, bob) = try await pair(settings)
        let one = try await ann.call("data", ["peer": bobID])
        let other = try await bob.call("data")
        try await ann.call("connect", ["data": try #require(other["data"])])
        try await bob.call("connect", ["data": try #require(one["data"])])
        try await ann.event("state", ["peer": bobID, "state": "connected"])
        try await bob.event("state", ["peer": annID, "state": "connected"])
        return (ann, bob)
    }

    static let annID = String(repeating: "00", count: 16)
    static let bobID = String(repeating: "ff", count: 16)
}
