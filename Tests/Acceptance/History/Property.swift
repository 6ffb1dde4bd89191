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
            "when one is connected the other is, but for 1 s, or 11 s after a death that nobody told"
        case .cap:
            "nobody has more links than the cap allows, at any moment"
        case .delivery:
            "on each link a prefix of what was sent arrives, once, in order, unchanged; all of it after a flush"
        case .presence:
            "nothing comes from a peer that is not connected, nor from an instance that is over"
        case .rest:
            "at rest all members of a mesh see the same members"
        case .transfers:
            "each file is complete once at most on each side, and at the receiver with the same bytes if at the sender"
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
