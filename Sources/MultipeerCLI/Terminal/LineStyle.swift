import MultipeerCommandLine
package import MultipeerEssentials

/// How the lines of a room look: on a terminal with the time of day, and the names of peers in colours.
package struct LineStyle: Equatable, Sendable {
    /// Before each line.
    package let time: String
    package let hasColours: Bool

    /// For a pipe, and for a terminal without escape sequences.
    package static let plain = LineStyle(time: "", hasColours: false)

    package init(time: String, hasColours: Bool) {
        self.time = time.isEmpty ? "" : "\(LineStyle.paint(time, "2", hasColours)) "
        self.hasColours = hasColours
    }

    /// Whether the user wants colours: not if the variable NO_COLOR is set to anything (no-color.org).
    package static func wantsColours(_ environment: [String: String]) -> Bool {
        environment["NO_COLOR", default: ""].isEmpty
    }

    /// Returns the name of a peer in its colour, which is always the same and follows from its id.
    package func name(_ label: String, of peer: PeerID) -> String {
        let sum = peer.uid.bytes.reduce(0) { $0 + Int($1) }
        return LineStyle.paint(label, LineStyle.colours[sum % LineStyle.colours.count], hasColours)
    }

    /// Cyan, yellow, green, magenta, red and blue, in the shades that the user has chosen for the terminal's background.
    private static let colours = ["36", "33", "32", "35", "31", "34"]

    private static func paint(_ text: String, _ code: String, _ hasColours: Bool) -> String {
        hasColours ? "\u{1b}[\(code)m\(text)\u{1b}[0m" : text
    }
}
