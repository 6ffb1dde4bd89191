extension String {
    /// The text without characters that would move the cursor: others may have written parts of it.
    var printable: String {
        String(
            String.UnicodeScalarView(
                unicodeScalars.filter {
                    ![.control, .format, .lineSeparator, .paragraphSeparator]
                        .contains($0.properties.generalCategory)
                }))
    }

    /// An upper bound for the number of columns that it takes on a terminal.
    var columns: Int { unicodeScalars.reduce(0) { $0 + $1.columns } }

    /// Returns as much of the beginning as fits into that many columns.
    func head(_ width: Int) -> String {
        var head = ""
        var used = 0
        for character in self {
            used += String(character).columns
            if used > width { break }
            head.append(character)
        }
        return head
    }

    /// Returns the text followed by spaces.
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - columns)) }
}

extension Unicode.Scalar {
    /// Terminals differ in emoji that consist of several scalars, and in new ones: each scalar counts, and any that is not
    /// known to be narrow counts as wide.
    fileprivate var columns: Int {
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark: 0
        default: value < 0x1100 || (0x1E00...0x206F).contains(value) ? 1 : 2
        }
    }
}
