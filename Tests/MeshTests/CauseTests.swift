import Foundation
import MultipeerFraming
import MultipeerMesh
import TestSupport
import Testing

/// Why a link ends, and what each end tells of it.
@Suite("14.3 Causes", .computing)
struct CauseTests {
    @Test(
        "whatever ends a link, each end has the one reason of the table [state.reason]",
        arguments: try Cause.ofLinks())
    func reasons(_ cause: Cause) throws {
        for isHeard in [true, false] {
            let (here, there) = (End(), End())
            happen(cause.name, at: here)
            if isHeard { there.receive(here.frames()) } else { there.link.lost() }
            let told = [here, there].map { $0.link.end.map { EndReason($0).code } }
            #expect(told == [cause.here, isHeard ? cause.there : cause.unheard].map(cause.code))
        }
    }

    private func happen(_ name: String, at end: End) {
        switch name {
        case "disconnected": end.link.close(.goodbye, at: end.now)
        case "evicted": end.link.close(.full, at: end.now)
        case "closed": end.link.close(.noSpace, at: end.now)
        case "violated": end.receive(.credit(channel: 0, limit: 0))
        case "silent":
            end.advance(3)
            end.advance(7)
        case "unanswered": end.link.close(.timeout, at: end.now)
        case "superseded": end.link.superseded(at: end.now)
        default: Issue.record("\(name) is not a cause that this test knows")
        }
    }
}

struct Cause: Decodable, Sendable, CustomTestStringConvertible {
    let name: String
    let here: String
    let there: String
    /// The other end's, when it hears nothing; nil where no end can say anything, and for attempts.
    let unheard: String?

    var testDescription: String { name }

    /// Those at which one end of a link does something.
    static func ofLinks() throws -> [Cause] {
        let root = URL(filePath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let data = try Data(contentsOf: root.appending(path: "Spec/registries.json"))
        return try JSONDecoder().decode(File.self, from: data).causes
            .filter { $0.unheard != nil }
    }

    /// The reason that the table's words mean.
    func code(_ words: String?) -> EndReason.Code? {
        switch words {
        case "left": .left
        case "the peer left": .goodbye
        case "full": .full
        case "closed, code": .closed
        case "closed by the peer, code": .closedByPeer
        case "rule broken, code": .protocolViolation
        case "timeout": .timedOut
        case "superseded": .superseded
        case "lost": .lost
        default: nil
        }
    }

    private struct File: Decodable { let causes: [Cause] }
}
