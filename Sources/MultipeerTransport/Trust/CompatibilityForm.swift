import MultipeerCore

/// Text in form NFKD, up to canonical equivalence, which the comparison of strings ignores. Foundation has a function for it, and
/// needs 30 MB of data in each program that is linked statically.
package enum CompatibilityForm {
    package static func decomposed(_ text: String) -> String {
        // That of ASCII is the text itself: a store has thousands of names.
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text }
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if let targets = targets[scalar] {
                result.append(contentsOf: targets)
            } else {
                result.append(scalar)
            }
        }
        return String(result)
    }

    private static let targets: [Unicode.Scalar: [Unicode.Scalar]] = {
        var targets: [Unicode.Scalar: [Unicode.Scalar]] = [:]
        for word in CompatibilityTable.text.split(whereSeparator: { $0 == " " || $0 == "\n" }) {
            let sides = word.pieces(at: ">")
            guard sides.count == 2 else { continue }
            let sources = sides[0].pieces(at: "-").compactMap { UInt32($0, radix: 16) }
            let first = sides[1].pieces(at: ".").compactMap { UInt32($0, radix: 16) }
            guard let start = sources.first, let end = sources.last, start <= end else { continue }
            for offset in 0...end - start {
                let scalars = first.compactMap { Unicode.Scalar(start == end ? $0 : $0 + offset) }
                if let source = Unicode.Scalar(start + offset) { targets[source] = scalars }
            }
        }
        return targets
    }()
}
