/// Where the clauses of the specification are, for the links of a report.
package struct SpecificationLinks: Sendable {
    /// The address of the folder `Spec`, with a slash at its end.
    let base: String

    package init(base: String = SpecificationLinks.beside) {
        self.base = base.hasSuffix("/") ? base : base + "/"
    }

    /// The folder `Spec` in the folder of the report.
    package static let beside = "Spec/"

    /// Returns the address of a clause by its label: the browser scrolls to the label in the text of the chapter.
    func address(ofRule label: String, chapter: String) -> String? {
        let area = String(label.prefix { $0 != "." })
        let number = SpecificationLinks.exceptions[label] ?? SpecificationLinks.areas[area]
        guard let file = SpecificationLinks.file(number ?? Int(chapter.prefix { $0 != "." }) ?? 0) else {
            return nil
        }
        return "\(base)\(file)#:~:text=%5B\(label.replacing("-", with: "%2D"))%5D"
    }

    /// Returns the address of a section: that of the first clause that a case tests, or the chapter.
    func address(of one: Case) -> String? {
        let number = Int(one.chapter.prefix { $0 != "." }) ?? 0
        let rule = one.rules.first { label in
            SpecificationLinks.areas[String(label.prefix { $0 != "." })] == number
        }
        if let rule { return address(ofRule: rule, chapter: one.chapter) }
        return SpecificationLinks.file(number).map { base + $0 }
    }

    static func file(_ chapter: Int) -> String? {
        chapters.first { $0.prefix(2) == (chapter < 10 ? "0\(chapter)" : "\(chapter)") }
    }

    /// The files of the chapters.
    static let chapters = [
        "02-conventions.md", "03-identity.md", "04-connection-data.md", "05-encryption.md", "06-link.md",
        "07-frames.md", "08-messages.md", "09-channels.md", "10-datagrams.md", "11-mesh.md",
        "12-invitations.md",
        "13-verification-code.md", "14-states-and-liveness.md", "15-limits.md", "16-codes.md",
        "17-extensions.md", "18-security.md", "19-privacy.md",
    ]

    /// The chapter of the labels that begin with a word.
    static let areas = [
        "int": 2, "tlv": 2, "peer": 3, "uid": 3, "endpoint": 3, "key": 3, "chain": 3, "secret": 3, "data": 4,
        "dial": 4, "enc": 5, "tls": 5, "trust": 5, "plain": 5, "link": 6, "hello": 6, "confirm": 6,
        "select": 6,
        "stale": 6, "frame": 7, "close": 7, "msg": 8, "channel": 9, "stream": 9, "resource": 9, "dgram": 10,
        "mesh": 11, "service": 12, "mdns": 12, "dns": 12, "invite": 12, "sas": 13, "code": 13, "state": 14,
        "live": 14, "limit": 15, "ext": 17, "privacy": 19,
    ]

    /// Labels in other chapters.
    static let exceptions = [
        "close.answer": 14, "close.goodbye": 14, "close.linger": 14, "code.unknown": 16,
        "invite.contested": 15,
        "invite.quiet": 15,
        "mesh.introduced": 15,
    ]
}
