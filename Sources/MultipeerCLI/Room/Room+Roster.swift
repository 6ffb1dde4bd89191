import MultipeerCommandLine
import MultipeerEssentials

/// Who is in the room, and what protects the links.
extension Room {
    func describe() async {
        var rows = [(members.name(of: session.peer), "you")]
        for peer in members.sorted {
            rows.append((members.name(of: peer), await description(of: peer)))
        }
        let width = rows.map(\.0.columns).max() ?? 0
        for (name, text) in rows {
            screen.tell(name + String(repeating: " ", count: width - name.columns + 2) + text)
        }
    }

    private func description(of peer: PeerID) async -> String {
        switch members[peer]?.state {
        case .connecting: return "connecting"
        case .gone(let reason): return reason.departure
        case nil: return "gone"
        case .linked: break
        }
        guard let facts = await session.connectionInfo(for: peer) else { return "gone" }
        let protection = facts.cipherSuite.map { "encrypted, \($0)" } ?? "not encrypted"
        return "linked, \(protection), \(facts.verification.words)"
    }
}
