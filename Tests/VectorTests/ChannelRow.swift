import Testing

/// A row of one of the machines of `Spec/states.json` that have no roles.
struct ChannelRow: Decodable, Sendable, CustomTestStringConvertible {
    let state: String
    let event: String
    let next: String
    let actions: [String]
    let code: String?

    var testDescription: String { "\(state), \(event)" }

    static func all(of machine: String) throws -> [ChannelRow] {
        struct Machine: Decodable { let rows: [ChannelRow]? }
        struct File: Decodable { let machines: [String: Machine] }
        let machines = try VectorFiles.decode(File.self, "states.json").machines
        return try #require(machines[machine]?.rows)
    }
}
