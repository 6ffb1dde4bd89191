extension String {
    /// Without what would move the cursor: others have a say in it.
    var printable: String {
        String(
            String.UnicodeScalarView(
                unicodeScalars.filter {
                    ![.control, .format, .lineSeparator, .paragraphSeparator]
                        .contains($0.properties.generalCategory)
                }))
    }

    /// How many columns of a terminal it takes, and rather more than that.
    var columns: Int { unicodeScalars.reduce(0) { $0 + $1.columns } }

    /// As much of the beginning as takes so many columns.
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

    /// With spaces behind it.
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - columns)) }
}

extension Unicode.Scalar {
    /// Terminals differ in pictures that are made of several, and in what is new: each part counts, and what is not known
    /// to be narrow is wide.
    fileprivate var columns: Int {
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark: 0
        default: value < 0x1100 || (0x1E00...0x206F).contains(value) ? 1 : 2
        }
    }
}
