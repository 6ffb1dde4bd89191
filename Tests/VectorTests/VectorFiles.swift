import Foundation

/// The files of `Spec/vectors`, found from where this source file lies.
enum VectorFiles {
    static let spec = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Spec")

    /// Those that hold no vectors: the form of the files, and what was made once for the generator.
    private static let others: Set = ["schema.json", "certificates.json"]

    static func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: spec.appending(path: "vectors").path)
            .filter { $0.hasSuffix(".json") && !others.contains($0) }
            .sorted()
    }

    /// Every vector of a kind, in the order of the files.
    static func all<Body: VectorBody>(_ kind: Body.Type) throws -> [Vector<Body>] {
        try names().flatMap { name in
            try decode(File<Group<Body>>.self, "vectors/\(name)").groups.flatMap(\.tests)
        }
    }

    /// How many vectors of each type there are.
    static func counts() throws -> [String: Int] {
        try names().reduce(into: [:]) { counts, name in
            for group in try decode(File<Kind>.self, "vectors/\(name)").groups {
                counts[group.type, default: 0] += group.tests.count
            }
        }
    }

    static func decode<Value: Decodable>(_ type: Value.Type, _ path: String) throws -> Value {
        try JSONDecoder().decode(Value.self, from: Data(contentsOf: spec.appending(path: path)))
    }

    private struct File<Group: Decodable>: Decodable { let groups: [Group] }

    /// Without tests if it is of another kind.
    private struct Group<Body: VectorBody>: Decodable {
        let tests: [Vector<Body>]

        private enum Key: CodingKey { case type, tests }

        init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: Key.self)
            let isWanted = try fields.decode(String.self, forKey: .type) == Body.type
            tests = isWanted ? try fields.decode([Vector<Body>].self, forKey: .tests) : []
        }
    }

    private struct Kind: Decodable {
        let type: String
        let tests: [Empty]
    }

    private struct Empty: Decodable {}
}
