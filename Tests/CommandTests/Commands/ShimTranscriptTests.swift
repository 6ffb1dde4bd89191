import Foundation
import TestSupport
import Testing

/// The transcript of the shim protocol in `Spec/shim.json`, which annex D shows, played to the shim of this package.
@Suite("Command: shim, the transcript of the specification", .inTurns)
struct ShimTranscriptTests {
    /// Of each line that the suite or the shim writes: the direction, and what it says.
    private static func lines() throws -> [[String: [String: Any]]] {
        let spec = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Spec/shim.json")
        let file = try JSONSerialization.jsonObject(with: Data(contentsOf: spec)) as? [String: Any]
        return try #require(file?["transcript"] as? [[String: [String: Any]]])
    }

    @Test("the shim answers and reports as in the transcript")
    func transcript() async throws {
        let shim = try ShimProcess()
        var values: [String: Any] = [:]
        for line in try Self.lines() {
            if let request = line["to"] {
                let whole = request.mapValues { Self.filled($0, values) }
                try await shim.command.send(Array(try JSONSerialization.data(withJSONObject: whole)) + [10])
                continue
            }
            let expected = try #require(line["from"])
            let actual =
                if let number = expected["re"] as? Int {
                    try await shim.answer(number)
                } else {
                    try await shim.event(
                        try #require(expected["event"] as? String),
                        expected.filter { ["session", "state"].contains($0.key) }
                            .compactMapValues { $0 as? String })
                }
            Self.compare(actual, expected, &values)
        }
        let ending = try await shim.command.finish()
        #expect(ending.code == 0 && ending.errors.isEmpty)
    }

    private static func filled(_ value: Any, _ values: [String: Any]) -> Any {
        guard let name = value as? String, name.hasPrefix("$") else { return value }
        return values[name] ?? value
    }

    /// Compares the fields of the transcript with those of the shim, which may have more. A name that begins with `$` stands for
    /// the same value throughout.
    private static func compare(_ actual: Any?, _ expected: Any, _ values: inout [String: Any]) {
        if let name = expected as? String, name.hasPrefix("$") {
            let known = values[name]
            #expect(actual != nil, "\(name)")
            if known == nil { values[name] = actual }
            #expect(actual as? NSObject == values[name] as? NSObject, "\(name)")
        } else if let fields = expected as? [String: Any] {
            let object = actual as? [String: Any]
            for (key, value) in fields { compare(object?[key], value, &values) }
        } else {
            #expect(actual as? NSObject == expected as? NSObject, "\(expected)")
        }
    }
}
