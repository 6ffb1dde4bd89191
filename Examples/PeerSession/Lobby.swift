import Foundation
import MultipeerConnectivity

/// The contents of a view, and the actions of its buttons: everything is on the main actor, and consists of values.
@MainActor final class Lobby {
    /// The persons who are nearby or linked, in the order in which they came.
    private(set) var people: [Person] = []
    /// The questions that wait for an answer, oldest first.
    private(set) var questions: [Question] = []
    private let station: Station

    init(_ station: Station) { self.station = station }

    /// Runs the station, keeps the lists, and passes everything to the view, until the user leaves.
    func run(showing view: @MainActor (Happening) async -> Void) async {
        async let running: Void = station.run()
        for await happening in station.happenings {
            note(happening)
            await view(happening)
        }
        await running
    }

    private func note(_ happening: Happening) {
        switch happening {
        case .found(let person), .changed(let person):
            if let place = people.firstIndex(where: { $0.id == person.id }) {
                people[place] = person
            } else {
                people.append(person)
            }
        case .lost(let person): people.removeAll { $0.id == person.id && $0.state == .notConnected }
        case .asked(let question): questions.append(question)
        case .said, .failed: break
        }
    }

    /// The persons who are linked.
    var linked: [Person] { people.filter { $0.state == .connected } }

    // MARK: what the buttons do

    func invite(_ person: Person) async { await station.invite(person.id) }

    /// Gives the user's answer, as late as they like. The row disappears at once; a second answer throws.
    func answer(_ question: Question, _ isYes: Bool) async throws(AnsweredBefore) {
        questions.removeAll { $0.id == question.id }
        try await station.answer(question.id, isYes)
    }

    func say(_ text: String) async throws { try await station.say(text) }

    func leave() async { await station.close() }
}
