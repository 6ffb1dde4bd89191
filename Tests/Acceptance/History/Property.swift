/// What must hold for a history. Property 0 is that it is valid.
package enum Property: Int, CaseIterable, Sendable {
    case whole, states, symmetry, cap, delivery, presence, rest, transfers, attempts

    package var text: String {
        switch self {
        case .whole:
            "every line can be read, and every run ends with quit unless the nemesis killed it"
        case .states:
            "the states of a peer alternate, none comes twice in a row, and the end of a link has a true reason"
        case .symmetry:
            "if one end is connected so is the other, except for 1 s, or for 11 s if an end died without notice"
        case .cap:
            "no member ever has more links than the cap allows"
        case .delivery:
            "on each link a prefix of what was sent arrives, once, in order, unchanged; all of it after a flush"
        case .presence:
            "nothing arrives from a peer that is not connected, nor from an instance that has ended"
        case .rest:
            "once the mesh is quiescent, all members see the same members"
        case .transfers:
            "each file completes at most once on each side; if it does at the sender, the receiver has the same bytes"
        case .attempts:
            "each attempt has exactly one outcome on each side, in time"
        }
    }
}

/// Where a history breaks a property.
package struct Violation: Sendable, CustomStringConvertible {
    package let property: Property
    package let place: Place
    package let detail: String

    package init(_ property: Property, _ place: Place, _ detail: String) {
        self.property = property
        self.place = place
        self.detail = detail
    }

    /// `FILE:LINE: property N (its text): detail`.
    package var description: String {
        "\(place): property \(property.rawValue) (\(property.text)): \(detail)"
    }
}

/// A line of a file.
package struct Place: Hashable, Sendable, CustomStringConvertible {
    package let file: String
    package let line: Int

    package init(file: String, line: Int) {
        self.file = file
        self.line = line
    }

    package var description: String { "\(file):\(line)" }
}

/// An entry and its place.
package struct Line: Sendable {
    package let place: Place
    package let entry: Entry

    package init(_ entry: Entry, at place: Place) {
        self.entry = entry
        self.place = place
    }
}
