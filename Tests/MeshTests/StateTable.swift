import Foundation

/// One machine of `Spec/states.json`.
struct StateTable: Decodable {
    struct Row: Decodable, CustomStringConvertible {
        let state: String
        let event: String
        let next: String
        let notify: [String]?
        let actions: [String]?
        let code: String?

        var description: String { "\(state), \(event)" }
    }

    let states: [String]
    let events: [String: String]
    let rows: [Row]

    static func named(_ name: String) throws -> StateTable {
        let root = URL(filePath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let data = try Data(contentsOf: root.appending(path: "Spec/states.json"))
        let machines = try JSONDecoder().decode(File.self, from: data).machines
        return try machines[name].orThrow(name)
    }

    private struct File: Decodable { let machines: [String: StateTable] }
}

private struct MissingMachine: Error { let name: String }

extension Optional {
    fileprivate func orThrow(_ name: String) throws -> Wrapped {
        guard let value = self else { throw MissingMachine(name: name) }
        return value
    }
}
