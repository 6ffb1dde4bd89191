import Foundation
import MultipeerConnectivity

/// What the program says by itself, and when it has said and heard enough.
///
/// Everybody says "round 1" once all are linked, and the next round when the one before was heard of everybody. Behind the
/// last comes a farewell, and whoever has heard everybody's may go: all that it said was heard. So nobody waits for the
/// farewell of one who has gone.
struct Rounds {
    let people: Int
    let count: Int
    /// How many words were said, and of whom how many were heard: one for each round, and the farewell.
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

    /// What is to be said now; nil while somebody else has not said as much.
    mutating func nextWord() -> String? {
        let isReady = said == 0 ? present.count >= people : heard.values.count { $0 >= said } >= people
        guard said <= count, isReady else { return nil }
        said += 1
        return said > count ? "farewell" : "round \(said)"
    }

    /// Whether everything was said, and everybody's farewell heard, or missed because they have left.
    var isOver: Bool {
        said > count && heard.count { $1 > count || ($1 == count && !present.contains($0)) } >= people
    }

    /// The number of a round, 0 for a farewell.
    private static func number(_ text: String) -> Int? {
        if text == "farewell" { return 0 }
        return text.hasPrefix("round ") ? Int(text.dropFirst(6)) : nil
    }
}
