import Foundation
import MultipeerConnectivity

/// A person nearby, as the rest of the program knows them: a value, which may be passed anywhere.
///
/// An `MCPeerID` is not `Sendable` and stays inside the `Station`. Outside it, a person has this id, which the station
/// created when it first saw the peer, and which means the same person for as long as the program runs.
struct Person: Identifiable, Sendable {
    let id: UUID
    /// The peer's display name, without characters that would move the cursor.
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

/// Thrown when an invitation is answered a second time.
struct AnsweredBefore: Error {}

/// An event that the station reports.
enum Happening: Sendable {
    case found(Person)
    case lost(Person)
    case changed(Person)
    case asked(Question)
    case said(Person, String)
    case failed(String)
}

extension String {
    /// The text without control characters: what others send is shown on a terminal.
    var printable: String {
        String(String.UnicodeScalarView(unicodeScalars.filter { $0.properties.generalCategory != .control }))
    }
}
