import Multipeer
import MultipeerCommandLine

/// Who is in the room, what protects the links, and whether users have compared codes.
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
        let verified = members[peer]?.isVerified == true ? ", code compared" : ""
        return "linked, \(protection), \(facts.verification)\(verified)"
    }

    /// Shows the code; the user then says whether it was the same.
    func compare(_ text: String) async {
        guard let (peer, answer) = members.find(at: text) else { return nobody(text) }
        guard let link = members[peer]?.link, members.isLinked(peer) else {
            return screen.tell("\(members.name(of: peer)) is not in the room")
        }
        switch answer.lowercased() {
        case "": Task { await self.showCode(for: peer) }
        case "yes", "y":
            guard members[peer]?.hasCode == link else {
                return screen.tell("no code yet; type /code \(members.name(of: peer)) first")
            }
            members.update(peer) { $0.isVerified = true }
            screen.tell("verified: the connection to \(members.name(of: peer)) is secure")
        case "no", "n":
            members.update(peer) { $0.isVerified = false }
            screen.tell(
                "possible man-in-the-middle between you and \(members.name(of: peer)): leave, and exchange new data another way"
            )
        default: screen.tell("usage: /code NAME, then /code NAME yes or /code NAME no")
        }
    }

    /// Waits for the other side without blocking anything else.
    private func showCode(for peer: PeerID) async {
        let link = members[peer]?.link
        let name = members.name(of: peer)
        do throws(MultipeerError) {
            screen.note("waiting for \(name) to compare codes")
            let code = try await session.verificationCode(for: peer)
            guard members[peer]?.link == link else { return }
            members.update(peer) { $0.hasCode = link }
            screen.tell("compare with \(name): \(code.prefix(3)) \(code.suffix(3))")
            screen.tell("do the codes match? /code \(name) yes, or /code \(name) no")
        } catch {
            if !isLeaving { screen.tell("no code for \(name): \(error.description.printable)") }
        }
    }
}
