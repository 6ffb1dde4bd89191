import MultipeerCommandLine
import MultipeerEssentials

/// Comparing codes with one peer: each user types the digits that the other one sees.
extension Room {
    /// A mistyped code may be typed again: the digits are fixed, so an attacker gains nothing.
    private static let attempts = 3

    /// `text`: a name, with digits or a no after it.
    func compare(_ text: String) async {
        guard let (peer, answer) = members.find(at: text) else { return nobody(text) }
        let name = members.name(of: peer)
        guard members.isLinked(peer) else { return screen.tell("\(name) is not in the room") }
        switch answer.lowercased() {
        case "": Task { await self.showCode(for: peer) }
        case "no", "n": await reject(peer)
        default:
            guard let digits = members[peer]?.digits else {
                return screen.tell("no code yet; type /code \(name) first")
            }
            guard VerificationDigits.isComplete(answer) else {
                return screen.tell(
                    "usage: /code NAME, then /code NAME and the six digits that NAME sees, or no")
            }
            if digits.match(answer) { Task { await self.confirm(peer) } } else { await count(peer) }
        }
    }

    func verificationRequested(by peer: PeerID) async {
        let name = members.name(of: peer)
        guard screen.isTerminal else {
            try? await session.declineVerification(of: peer)
            return screen.note("\(name) wants to compare codes; there is no terminal here to do so")
        }
        screen.note("\(name) wants to compare codes: /code \(name)")
    }

    /// Waits for the other side without blocking anything else.
    private func showCode(for peer: PeerID) async {
        let link = members[peer]?.link
        let name = members.name(of: peer)
        do throws(MultipeerError) {
            screen.note("waiting for \(name) to compare codes")
            let digits = try await session.verificationCode(for: peer)
            guard members[peer]?.link == link else { return }
            members.update(peer) { $0.digits = digits }
            screen.tell("read these digits to \(name): \(digits.own.prefix(3)) \(digits.own.suffix(3))")
            screen.tell("then type the ones that \(name) sees: /code \(name) DIGITS, or /code \(name) no")
        } catch {
            if !isLeaving { screen.tell("no code for \(name): \(error.description.printable)") }
        }
    }

    private func confirm(_ peer: PeerID) async {
        let link = members[peer]?.link
        let name = members.name(of: peer)
        do throws(MultipeerError) {
            screen.note("the digits are right; waiting for \(name) to type yours")
            try await session.confirmVerification(of: peer)
            guard members[peer]?.link == link, let facts = await session.connectionInfo(for: peer) else {
                return
            }
            members.update(peer) { $0.verification = facts.verification }
            screen.tell("\(name) is \(facts.verification.words)")
        } catch {
            if !isLeaving { screen.tell("\(name) is not verified: \(error.description.printable)") }
        }
    }

    private func count(_ peer: PeerID) async {
        let wrong = members.update(peer) { member in
            member.wrongDigits += 1
            return member.wrongDigits
        }
        guard let wrong, wrong < Room.attempts else { return await reject(peer) }
        screen.tell("these are not the digits; type them again, or /code \(members.name(of: peer)) no")
    }

    private func reject(_ peer: PeerID) async {
        guard (try? await session.rejectVerification(of: peer)) != nil else {
            return screen.tell("no code yet; type /code \(members.name(of: peer)) first")
        }
        screen.tell(
            "possible man-in-the-middle between you and \(members.name(of: peer)): the link was ended at both ends"
        )
    }
}
