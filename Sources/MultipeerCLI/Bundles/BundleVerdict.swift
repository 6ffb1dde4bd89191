import MultipeerEssentials

/// What a receiver says about one file of a bundle or of a comparison.
package enum BundleVerdict: Hashable, Sendable {
    /// It is wanted, or saved.
    case taken
    /// It is there already, and compared.
    case same
    case refused(TransferNote.Subject)
    case noSpace
    case failed

    /// The word in a message; nil for one that has none.
    private var word: String? {
        switch self {
        case .taken: "taken"
        case .same: "same"
        case .refused(let subject): subject.isVerdict ? subject.word : nil
        case .noSpace: "no-space"
        case .failed: "failed"
        }
    }

    private static let byWord: [Substring: BundleVerdict] = {
        let all: [BundleVerdict] =
            [.taken, .same, .noSpace, .failed] + TransferNote.reasons.map { .refused($0) }
        return Dictionary(uniqueKeysWithValues: all.map { ($0.word.map { $0[...] } ?? "", $0) })
    }()

    /// Returns them as words between spaces; one that is repeated has its number, as in `taken*57 exists`.
    package static func text(_ verdicts: [BundleVerdict]) -> String {
        var runs: [(verdict: BundleVerdict, count: Int)] = []
        for verdict in verdicts {
            if runs.last?.verdict == verdict {
                runs[runs.count - 1].count += 1
            } else {
                runs.append((verdict, 1))
            }
        }
        return runs.map { run in
            (run.verdict.word ?? "failed") + (run.count > 1 ? "*\(run.count)" : "")
        }.joined(separator: " ")
    }

    /// Returns nil for any other text, and for more than a bundle has files.
    package static func read(_ text: Substring, most: Int) -> [BundleVerdict]? {
        var verdicts: [BundleVerdict] = []
        for word in text.pieces(at: " ", keepingEmpty: true) {
            let parts = word.pieces(at: "*", keepingEmpty: true)
            guard parts.count <= 2, let verdict = byWord[parts[0]],
                let count = parts.count == 1 ? 1 : Int(parts[1]), count >= 1, count <= most - verdicts.count
            else { return nil }
            verdicts += repeatElement(verdict, count: count)
        }
        return verdicts
    }
}
