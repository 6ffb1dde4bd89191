import MultipeerEssentials

/// Whether terminals of this process show UTF-8: the locale's character encoding, as the environment names it.
///
/// A pipe and a file always get UTF-8: what reads them need not run in the same locale, and scripts often run in none.
package enum OutputEncoding {
    package static let isUTF8 = isUTF8(Environment.all)

    /// The first of these variables that is set counts. Without any the locale is C, which is ASCII.
    package static func isUTF8(_ environment: [String: String]) -> Bool {
        let names = ["LC_ALL", "LC_CTYPE", "LANG"]
        let locale = names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? "C"
        let encoding = locale.lowercased().filter { $0 != "-" }
        return encoding.ends(with: ".utf8") || encoding == "utf8" || encoding.hasPart(".utf8@")
    }
}

extension String {
    /// The text with everything beyond ASCII escaped.
    package var asASCII: String {
        guard !utf8.allSatisfy({ $0 < 0x80 }) else { return self }
        return unicodeScalars.map { $0.isASCII ? String($0) : $0.escaped }.joined()
    }
}
