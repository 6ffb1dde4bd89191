import MultipeerEssentials

/// A message of a receiver to its sender about one file: why it did not take the file, or how it names it.
///
/// As text, `files/1`, the number of the file and a word, in one line; for `renamed`, a space and the name follow. A peer that
/// does not know a note ignores it, so that further words can be added.
package struct TransferNote: Equatable, Sendable {
    package enum Subject: Hashable, Sendable {
        /// A file of this name exists, and was not compared.
        case exists
        /// A file of this name exists, and is not the same.
        case differs
        /// A file of this name was received a moment before.
        case repeated
        case tooLarge
        /// The name or path is none that the receiver uses.
        case badName
        /// Something else is in the way, such as a file where a directory has to be.
        case obstructed
        /// The receiver cannot store it, although it wants to.
        case trouble(Trouble)
        case renamed(String)
    }

    /// What keeps a receiver from storing a file.
    package enum Trouble: String, CaseIterable, Sendable {
        case noSpace = "no-space"
        case quota
        case sizeLimit = "size-limit"
        case permission = "not-permitted"
        case readOnly = "read-only"
        case nameTooLong = "name-too-long"
        case tooManyFiles = "too-many-files"
        /// The program that reads standard output has ended.
        case closed
        case other = "storage"

        init(_ reason: FileFault.Reason) {
            self =
                switch reason {
                case .noSpace: .noSpace
                case .quota: .quota
                case .sizeLimit, .tooLarge: .sizeLimit
                case .permission: .permission
                case .readOnly: .readOnly
                case .nameTooLong: .nameTooLong
                case .tooManyFiles: .tooManyFiles
                case .closed: .closed
                case .notFound, .isDirectory, .notRegular, .shrank, .other: .other
                }
        }

        fileprivate var words: String {
            switch self {
            case .noSpace: "no space left on the other side"
            case .quota: "the disk quota on the other side is used up"
            case .sizeLimit: "the other side cannot store a file as long as this"
            case .permission: "the other side is not permitted to write there"
            case .readOnly: "the file system on the other side is read-only"
            case .nameTooLong: "the name is too long for the file system on the other side"
            case .tooManyFiles: "too many open files on the other side"
            case .closed: "the program that reads it on the other side has ended"
            case .other: "the other side could not store it"
            }
        }
    }

    /// The number of the file, as its sender counts.
    package let number: Int
    package let subject: Subject

    private static let head = "files/1"
    private static let longest = 1_024
    fileprivate static let words: [(String, Subject)] = [
        ("exists", .exists), ("differs", .differs), ("repeated", .repeated), ("too-large", .tooLarge),
        ("bad-name", .badName), ("obstructed", .obstructed),
    ]

    /// All subjects but that of another name.
    static var reasons: [Subject] { words.map(\.1) }

    package init(_ number: Int, _ subject: Subject) {
        self.number = number
        self.subject = subject
    }

    /// Returns nil for any other message.
    package init?(message: [UInt8]) {
        guard message.count <= TransferNote.longest, let text = String(validating: message, as: UTF8.self)
        else { return nil }
        let fields = text.pieces(at: " ", atMost: 4, keepingEmpty: true)
        guard fields.count >= 3, fields[0] == TransferNote.head, let number = Int(fields[1]),
            (1...FilePosition.most).contains(number)
        else { return nil }
        self.number = number
        if fields.count == 4 {
            guard fields[2] == "renamed", !fields[3].isEmpty else { return nil }
            subject = .renamed(String(fields[3]))
        } else {
            let word = String(fields[2])
            let known = TransferNote.words.first { $0.0 == word }?.1
            guard let subject = known ?? Trouble(rawValue: word).map({ .trouble($0) }) else { return nil }
            self.subject = subject
        }
    }

    package var message: [UInt8] {
        let start = "\(TransferNote.head) \(number) "
        if case .renamed(let name) = subject { return Array("\(start)renamed \(name)".utf8) }
        return Array((start + subject.word).utf8)
    }

}

extension TransferNote.Subject {
    /// The word for programs.
    package var word: String {
        if case .trouble(let trouble) = self { return trouble.rawValue }
        return TransferNote.words.first { $0.1 == self }?.0 ?? "renamed"
    }

    /// Whether it is one of the reasons not to take a file that a message about many can have.
    var isVerdict: Bool { TransferNote.reasons.contains(self) }

    /// Whether a file was not taken for it.
    package var isReason: Bool { if case .renamed = self { false } else { true } }

    /// What the sender shows about a file. `peer`: who receives it.
    package func reason(_ peer: String) -> String {
        switch self {
        case .exists: "\(peer) has a file of this name, which was not compared"
        case .differs: "\(peer) has a different file of this name"
        case .repeated: "\(peer) has just received a file of this name"
        case .tooLarge: "it is larger than \(peer) accepts"
        case .badName: "\(peer) does not accept this name"
        case .obstructed: "\(peer) has something else in its place"
        case .trouble(let trouble): trouble.words
        case .renamed(let name): "\(peer) saved it as \(name)"
        }
    }
}
