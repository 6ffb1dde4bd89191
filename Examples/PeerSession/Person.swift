import Foundation
import MultipeerConnectivity

/// Somebody nearby, as the rest of the program knows them: a value, which may go anywhere.
///
/// An `MCPeerID` is not `Sendable` and stays inside the `Station`. What leaves it has this id, which the station made up
/// when it first saw the peer, and which means the same person for as long as the program runs.
struct Person: Identifiable, Sendable {
    let id: UUID
    /// What the peer calls itself, without what would move the cursor.
    let name: String
    var state = MCSessionState.notConnected

    init(id: UUID, name: String) {
        self.id = id
        self.name = name.printable
    }
}

/// An invitation that waits for an answer: the station keeps the handler, the view shows this.
struct Question: Identifiable, Sendable {
    let id = UUID()
    let person: Person
}

/// Thrown at whoever answers an invitation again.
struct AnsweredBefore: Error {}

/// What the station tells, in the order in which it happened.
enum Happening: Sendable {
    case found(Person)
    case lost(Person)
    case changed(Person)
    case asked(Question)
    case said(Person, String)
    case failed(String)
}

extension String {
    /// Without control characters: what others send is shown on a terminal.
    var printable: String {
        String(String.UnicodeScalarView(unicodeScalars.filter { $0.properties.generalCategory != .control }))
    }
}
