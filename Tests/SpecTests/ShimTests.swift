import Foundation
import TestSupport
import Testing

/// The shim of this package implements chapter 20.
@Suite("20 Shim", .computing, .enabled(if: Repository.exists("Sources/MultipeerConform/Shim")))
struct ShimTests {
    private struct Description: Decodable {
        struct Request: Decodable { let op: String }
        struct Event: Decodable { let event: String }

        let requests: [Request]
        let events: [Event]
    }

    private let description: Description
    private let code: String

    init() throws {
        description = try JSONDecoder().decode(Description.self, from: try Repository.data("Spec/shim.json"))
        code = try Repository.files(under: "Sources/MultipeerConform/Shim", where: { $0.hasSuffix(".swift") })
            .map(\.text).joined()
    }

    @Test("every request in the description is implemented, and no other")
    func requests() throws {
        let dispatch = try Repository.file("Sources/MultipeerConform/Shim/Shim.swift").text
        let understood = dispatch.matches(of: /case "([a-z]+)":/).map { String($0.1) }
        #expect(words(description.requests.map(\.op)) == Set(understood + ["quit"]))
    }

    @Test("every event in the description is sent, and no other")
    func events() {
        let told = code.matches(of: /tell\(\s*"([a-z-]+)", of:/).map { String($0.1) }
        #expect(words(description.events.map(\.event)) == Set(told))
    }

    /// Returns all names; some rows of the description have two.
    private func words(_ names: [String]) -> Set<String> {
        Set(names.flatMap { $0.split(separator: ",") }.map { $0.trimmingCharacters(in: .whitespaces) })
    }
}
