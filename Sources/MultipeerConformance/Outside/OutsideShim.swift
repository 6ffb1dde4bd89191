import Foundation

/// A shim for a peer that has none: it obtains connection data by invitations and knows nothing else, so every request that
/// controls the application is not implemented, and there are no events.
package final class OutsideShim {
    private let target: OutsidePeer.Address
    private let peer: OutsidePeer
    private let caseRun: CaseRun
    private let console = JSONLinesIO()
    private var lines: [[UInt8]] = []
    private var isDone = false
    /// The invitations that are under way, in their order: a case obtains data and connects with it before the next.
    private var invitations: [OutsideInvitation] = []

    /// How long a peer may take to accept; the suite waits a little longer for the answer.
    private static let timeout = Duration.seconds(12)

    private init(_ target: OutsidePeer.Address, _ peer: OutsidePeer) {
        self.target = target
        self.peer = peer
        caseRun = CaseRun(
            .testerLower, shim: "", random: SplitMix64(seed: UInt64.random(in: 0...UInt64.max), name: ""))
        console.take = { [unowned self] in lines.append($0) }
        console.isAtEnd = { [unowned self] in isDone = true }
        caseRun.loop.add(console)
    }

    /// Answers requests until the input ends or contains quit.
    package static func run(_ target: OutsidePeer.Address, _ peer: OutsidePeer) {
        let shim = OutsideShim(target, peer)
        while !shim.isDone {
            shim.caseRun.loop.wait(.seconds(1)) { shim.isDone || !shim.lines.isEmpty }
            // Not in the loop itself: a request waits there for the peer.
            while !shim.lines.isEmpty { shim.answer(shim.lines.removeFirst()) }
        }
    }

    private func answer(_ line: [UInt8]) {
        let request = JSONValue(line: line) ?? .null
        var answer: [String: JSONValue] = ["ok": true]
        do {
            guard let fields = try carryOut(request) else {
                console.say(.object(["re": request["id"] ?? .null, "unimplemented": true]))
                return
            }
            answer.merge(fields) { $1 }
        } catch {
            answer = ["error": "DECLINED", "reason": .string("\(error)")]
        }
        answer["re"] = request["id"] ?? .null
        console.say(.object(answer))
    }

    /// Returns the fields of the answer; nil for what only the application can do.
    private func carryOut(_ request: JSONValue) throws -> [String: JSONValue]? {
        switch request["op"]?.text {
        case "session":
            guard
                ["limits", "trust", "identity", "receiving", "resumes", "listen"].allSatisfy({
                    request[$0] == nil
                })
            else {
                return nil
            }
            return ["uid": .string(peer.uid.hex), "outside": .string(peer.description)]
        case "data":
            guard request["mesh"]?.isTrue != true, request["lifetime"] == nil,
                let uid = request["peer"]?.text.flatMap({ [UInt8](hex: $0) })
            else { return nil }
            let invitation = OutsideInvitation(target, in: caseRun)
            let data = try invitation.data(for: uid, named: "multipeer-conform", within: OutsideShim.timeout)
            invitations.append(invitation)
            return ["data": .string(data.hex)]
        case "connect":
            guard let data = request["data"]?.text.flatMap({ [UInt8](hex: $0) }), !invitations.isEmpty else {
                return nil
            }
            invitations.removeFirst().complete(data)
            return [:]
        case "quit":
            isDone = true
            return [:]
        default: return nil
        }
    }
}
