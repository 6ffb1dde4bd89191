import MultipeerEssentials

/// What a mistyped word was probably meant to be.
package enum Spelling {
    /// Returns the nearest of the known words; nil when none is near, or when several are equally near.
    ///
    /// A word that begins another one is near it; otherwise a third of its letters may be wrong, missing, too many or
    /// swapped with the next one.
    package static func nearest(_ word: String, of known: [String]) -> String? {
        let typed = Array(word.lowercased().prefix(longest))
        guard !typed.isEmpty else { return nil }
        let ranked = known.map { (word: $0, distance: distance(typed, Array($0.lowercased()))) }
            .filter { $0.distance <= max(1, typed.count / 3) || begins(typed, $0.word) }
        guard let least = ranked.map(\.distance).min() else { return nil }
        let nearest = ranked.filter { $0.distance == least }
        return nearest.count == 1 ? nearest[0].word : nil
    }

    /// No known word is longer, and the work grows with the square.
    private static let longest = 64

    private static func begins(_ typed: [Character], _ word: String) -> Bool {
        typed.count > 2 && word.lowercased().begins(with: String(typed))
    }

    /// The number of letters to change, insert, remove or swap with their neighbour (optimal string alignment).
    private static func distance(_ one: [Character], _ other: [Character]) -> Int {
        var rows = [Array(0...other.count)]
        for (index, letter) in one.enumerated() {
            let above = rows[index]
            var row = [index + 1]
            for (column, counterpart) in other.enumerated() {
                var cost = min(
                    above[column] + (letter == counterpart ? 0 : 1), above[column + 1] + 1, row[column] + 1)
                let isSwapped =
                    index > 0 && column > 0 && letter == other[column - 1] && one[index - 1] == counterpart
                if isSwapped { cost = min(cost, rows[index - 1][column - 1] + 1) }
                row.append(cost)
            }
            rows.append(row)
        }
        return rows[one.count][other.count]
    }
}
