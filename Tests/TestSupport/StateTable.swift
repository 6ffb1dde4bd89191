import Foundation

/// One machine of `Spec/states.json`.
package struct StateTable: Decodable {
    package struct Row: Decodable, CustomStringConvertible {
        package let state: String
        package let event: String
        package let next: String
        package let notify: [String]?
        package let actions: [String]?
        package let code: String?

        package var description: String { "\(state), \(event)" }
    }

    package let states: [String]
    package let events: [String: String]
    package let rows: [Row]

    package static func named(_ name: String) throws -> StateTable {
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
