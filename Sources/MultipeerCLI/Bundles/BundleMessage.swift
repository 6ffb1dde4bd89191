import MultipeerCommandLine
import MultipeerEssentials

/// What the two ends of a transfer say about bundles of files, and about files that the receiver has already, in messages next to
/// them. Each begins with `files/1`, a word, and after the first two a number. A peer that does not know them ignores them, and is
/// sent file after file.
package enum BundleMessage: Equatable, Sendable {
    /// Whether a receiver takes bundles, which it says once the peers are linked: `files/1 bundles all`.
    package enum Policy: String, Sendable {
        case none
        case all
        /// It has files already, and wants to be asked first.
        case ask
    }

    case policy(Policy)
    /// A receiver compares files with those that it has, which it says once the peers are linked: `files/1 compares`.
    case compares
    /// Which of these files the receiver wants: `files/1 question 7/10000`, where 10000 is the number of all files, and after a
    /// line feed the records of the files.
    case question(BundlePosition, list: [UInt8])
    /// The verdicts about these, in their order: `files/1 answer 7 taken*57 exists`.
    case answer(Int, [BundleVerdict])
    /// The same about a bundle, once it is saved and before it is confirmed: `files/1 result 7 taken*57`.
    case result(Int, [BundleVerdict])
    /// Whether files that were refused are the same as those of their names that are there: `files/1 compare 7`, with the number of
    /// the first file, and after a line feed each file as `FileDigest` writes it.
    case comparison(Int, [FileDigest])
    /// The verdicts about these, in their order: `files/1 compared 7 same*57 differs`.
    case compared(Int, [BundleVerdict])

    private static let head = "files/1 "
    private static let lineFeed = UInt8(ascii: "\n")
    private static let longestLine = 16_384

    /// Returns whether a message is a question or a comparison, well-formed or not: it is not for people.
    static func isQuestion(_ message: [UInt8]) -> Bool {
        message.starts(with: "files/1 question ".utf8) || message.starts(with: "files/1 compare ".utf8)
    }

    /// Returns nil for any other message.
    package init?(message: [UInt8]) {
        guard message.count <= BundleMessage.longestLine + FileBundle.longest else { return nil }
        let line = message.prefix { $0 != BundleMessage.lineFeed }
        guard line.count <= BundleMessage.longestLine, line.starts(with: BundleMessage.head.utf8),
            let text = String(validating: line.dropFirst(BundleMessage.head.utf8.count), as: UTF8.self)
        else { return nil }
        let fields = text.pieces(at: " ", atMost: 3, keepingEmpty: true)
        if fields.count == 2, fields[0] == "question", message.count > line.count,
            let position = FilePosition(metadata: Array(fields[1].utf8))
        {
            self = .question(
                BundlePosition(position.number, files: position.count),
                list: Array(message[(line.count + 1)...]))
            return
        }
        if fields.count == 2, fields[0] == "compare", message.count > line.count,
            let files = FileDigest.list(message[(line.count + 1)...], most: FileBundle.mostFiles),
            let first = files.first, fields[1] == "\(first.number)"
        {
            self = .comparison(first.number, files)
            return
        }
        guard message.count == line.count else { return nil }
        if fields == ["compares"] {
            self = .compares
            return
        }
        if fields.count == 2, fields[0] == "bundles", let policy = Policy(rawValue: String(fields[1])) {
            self = .policy(policy)
            return
        }
        guard fields.count == 3, let number = Int(fields[1]), (1...FilePosition.most).contains(number),
            let verdicts = BundleVerdict.read(fields[2], most: FileBundle.mostFiles)
        else { return nil }
        switch fields[0] {
        case "answer": self = .answer(number, verdicts)
        case "result": self = .result(number, verdicts)
        case "compared": self = .compared(number, verdicts)
        default: return nil
        }
    }

    package var message: [UInt8] {
        switch self {
        case .policy(let policy): Array("\(BundleMessage.head)bundles \(policy.rawValue)".utf8)
        case .question(let position, let list):
            Array("\(BundleMessage.head)question \(position.number)/\(position.files)\n".utf8) + list
        case .answer(let number, let verdicts):
            Array("\(BundleMessage.head)answer \(number) \(BundleVerdict.text(verdicts))".utf8)
        case .result(let number, let verdicts):
            Array("\(BundleMessage.head)result \(number) \(BundleVerdict.text(verdicts))".utf8)
        case .compares: Array("\(BundleMessage.head)compares".utf8)
        case .comparison(let number, let files):
            Array("\(BundleMessage.head)compare \(number)\n".utf8) + files.flatMap(\.bytes)
        case .compared(let number, let verdicts):
            Array("\(BundleMessage.head)compared \(number) \(BundleVerdict.text(verdicts))".utf8)
        }
    }
}
