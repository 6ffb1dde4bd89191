import Foundation
import MultipeerCore
import MultipeerFraming
import MultipeerLink
import MultipeerMesh
import TestSupport
import Testing

/// Why a link ends, and what each end reports of it.
@Suite("14.3 Causes", .computing)
struct CauseTests {
    @Test(
        "whatever ends a link, each end has the reason in the table [state.reason]",
        arguments: try Cause.ofLinks())
    func reasons(_ cause: Cause) throws {
        for isHeard in [true, false] {
            var here = Link(.init(), now: .start)
            var there = Link(.init(), now: .start)
            happen(cause.name, to: &here)
            if isHeard { carry(from: &here, to: &there) } else { there.lost() }
            let told = [here.end, there.end].map { $0.map { DisconnectReason($0).code } }
            #expect(told == [cause.here, isHeard ? cause.there : cause.unheard].map(cause.code))
        }
    }

    private func happen(_ name: String, to link: inout Link) {
        switch name {
        case "disconnected": link.close(.goodbye, at: .start)
        case "evicted": link.close(.full, at: .start)
        case "closed": link.close(.noSpace, at: .start)
        case "violated":
            var bytes = ByteBuffer()
            Frame.credit(channel: 0, limit: 0).encode(into: &bytes)
            receive(bytes.takeAll(), at: &link)
        case "silent":
            link.advance(to: .start + .seconds(3))
            link.advance(to: .start + .seconds(10))
        case "unanswered": link.close(.timeout, at: .start)
        case "superseded": link.superseded(at: .start)
        default: Issue.record("\(name) is not a cause that this test knows")
        }
    }

    /// Delivers all frames that `sender` has now.
    private func carry(from sender: inout Link, to receiver: inout Link) {
        var output = ByteBuffer()
        while sender.wantsToSend { _ = sender.fill(&output, upTo: 65_536, now: .start) }
        receive(output.takeAll(), at: &receiver)
    }

    private func receive(_ bytes: [UInt8], at link: inout Link) {
        var decoder = FrameDecoder()
        #expect(link.receive(bytes.span, through: &decoder, at: .start) == bytes.count)
    }
}

extension Moment {
    fileprivate static let start = Moment(nanoseconds: 1_000_000_000_000)
}

struct Cause: Decodable, Sendable, CustomTestStringConvertible {
    let name: String
    let here: String
    let there: String
    /// The other end's reason, when it receives nothing; nil where no end can send anything, and for attempts.
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
    func code(_ words: String?) -> DisconnectReason.Code? {
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
