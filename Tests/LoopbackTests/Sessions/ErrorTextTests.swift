import Foundation
import Multipeer
import TestSupport
import Testing

@Suite("14.3 Errors as an application shows them", .computing)
struct ErrorTextTests {
    @Test("an alert shows the description of an error, and a log its code as one word")
    func texts() throws {
        let error = try #require(#expect(throws: MultipeerError.self) { try PeerID(displayName: "") })
        #expect((error as any Error).localizedDescription == error.description)
        #expect("\(error.code)" == "invalid-argument")
    }
}
