import Foundation

/// The content of `apple.txt`: one entry for each of Apple's declarations.
struct AppleInterface {
    struct Entry {
        /// `OWNER: DECLARATION`, or `OWNER conforms to A, B`.
        let apple: String
        /// Our text, where it has to differ, and why.
        var here: String?
        var because: String?

        var owner: Substring { apple.prefix { $0 != ":" && $0 != " " } }

        /// The declaration that our interface must have.
        var expected: String {
            guard let here else { return apple }
            if let conformer { return "\(conformer) conforms to \(here)" }
            let owner = apple.firstRange(of: ": ").map { apple[..<$0.upperBound] } ?? ""
            return owner.dropLast(2).contains(" ") ? here : owner + here
        }

        private var conformer: Substring? {
            apple.firstRange(of: " conforms to ").map { apple[..<$0.lowerBound] }
        }
    }

    struct Chapter {
        let heading: String
        let count: Int
        var entries: [Entry] = []
    }

    private(set) var chapters: [Chapter] = []
    var entries: [Entry] { chapters.flatMap(\.entries) }

    init(_ text: String) throws {
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            if let heading = line.after("== ") {
                let words = heading.split(separator: " ", maxSplits: 1).map(String.init)
                guard let count = words.first.flatMap(Int.init) else { throw Unreadable(line: String(line)) }
                chapters.append(Chapter(heading: words.dropFirst().joined(), count: count))
                continue
            }
            guard var chapter = chapters.popLast() else { throw Unreadable(line: String(line)) }
            if let text = line.after("    here: "), var entry = chapter.entries.popLast() {
                entry.here = text
                chapter.entries.append(entry)
            } else if let text = line.after("    because: "), var entry = chapter.entries.popLast() {
                entry.because = text
                chapter.entries.append(entry)
            } else {
                guard !line.hasPrefix(" ") else { throw Unreadable(line: String(line)) }
                chapter.entries.append(Entry(apple: String(line)))
            }
            chapters.append(chapter)
        }
    }
}

/// The content of `MultipeerConnectivity.interface.txt`: every declaration as `OWNER: DECLARATION`.
struct OurInterface {
    private(set) var declarations: Set<String> = []
    private(set) var conformances: [String: Set<String>] = [:]

    init(_ text: String) throws {
        var owner = ""
        for line in text.split(separator: "\n") {
            if let list = line.after("    conforms to ") {
                conformances[owner] = Set(list.components(separatedBy: ", "))
            } else if let member = line.after("    ") {
                declarations.insert("\(owner): \(member)")
            } else {
                declarations.insert(String(line))
                let type = line.firstRange(of: " : ").map { line[..<$0.lowerBound] } ?? line
                owner = type.split(separator: " ").last.map(String.init) ?? ""
            }
        }
    }

    func contains(_ text: String) -> Bool {
        guard let middle = text.firstRange(of: " conforms to ") else { return declarations.contains(text) }
        let wanted = Set(text[middle.upperBound...].components(separatedBy: ", "))
        return wanted.isSubset(of: conformances[String(text[..<middle.lowerBound])] ?? [])
    }
}

/// A line that fits nothing.
struct Unreadable: Error {
    let line: String
}

extension StringProtocol {
    fileprivate func after(_ start: String) -> String? {
        hasPrefix(start) ? String(dropFirst(start.count)) : nil
    }
}

/// The two texts, read where they lie beside this file.
enum InterfaceFiles {
    static func apple() throws -> AppleInterface { try AppleInterface(text("apple.txt")) }
    static func ours() throws -> OurInterface {
        try OurInterface(text("MultipeerConnectivity.interface.txt"))
    }

    private static func text(_ name: String) throws -> String {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        return String(decoding: try Data(contentsOf: folder.appending(path: name)), as: UTF8.self)
    }
}
