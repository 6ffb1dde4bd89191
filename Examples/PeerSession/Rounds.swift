import Foundation
import MultipeerConnectivity

/// What the program sends by itself, and when it has sent and received enough.
///
/// Each person sends "round 1" once all are linked, and the next round once the previous one was received from all others.
/// After the last round each person sends a goodbye. A person who has received those of all others may leave, since the
/// others have received everything that they sent. So no goodbye is expected from a person who has left.
struct Rounds {
    let people: Int
    let count: Int
    /// How many messages were sent, and how many were received from each person: one for each round, and the goodbye.
    private var said = 0
    private var heard: [Person.ID: Int] = [:]
    private var present: Set<Person.ID> = []

    init(people: Int, count: Int) { (self.people, self.count) = (people, count) }

    mutating func note(_ happening: Happening) {
        switch happening {
        case .changed(let person) where person.state == .connected: present.insert(person.id)
        case .changed(let person): present.remove(person.id)
        case .said(let person, let text):
            heard[person.id] = Rounds.number(text).map { $0 == 0 ? count + 1 : $0 } ?? heard[person.id]
        default: break
        }
    }

    /// Returns the next message; nil while another person has not sent as many.
    mutating func nextWord() -> String? {
        let isReady = said == 0 ? present.count >= people : heard.values.count { $0 >= said } >= people
        guard said <= count, isReady else { return nil }
        said += 1
        return said > count ? "goodbye" : "round \(said)"
    }

    /// Whether everything was sent, and every goodbye was received, or missed because that person has left.
    var isOver: Bool {
        said > count && heard.count { $1 > count || ($1 == count && !present.contains($0)) } >= people
    }

    /// Returns the number of a round, 0 for a goodbye.
    private static func number(_ text: String) -> Int? {
        if text == "goodbye" { return 0 }
        return text.hasPrefix("round ") ? Int(text.dropFirst(6)) : nil
    }
}
