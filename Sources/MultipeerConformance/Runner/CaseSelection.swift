/// Which cases are selected: words such as LINK-11, LINK-* or LINK-11/tester-lower, sections, and levels.
package struct CaseSelection: Sendable {
    package var words: [String] = []
    /// A section by name, or a chapter by number: LINK, 6, 6.3.
    package var sections: [String] = []
    package var levels: [Level] = []
    package var isQuick = false

    package init() {}

    /// The cases in the order of the suite, each with the selected orders of uids.
    package var cases: [Case] {
        Suite.cases.compactMap { one in
            guard sections.isEmpty || sections.contains(where: { one.isIn(section: $0) }),
                levels.isEmpty || levels.contains(one.level), !isQuick || one.isQuick
            else { return nil }
            let isAsked = !words.isEmpty || levels.contains(.flood)
            guard one.level != .flood || isAsked else { return nil }
            guard !words.isEmpty else { return one }
            let orders = one.orders.filter { order in words.contains { one.fits($0, order) } }
            return orders.isEmpty ? nil : one.with(orders: orders)
        }
    }

    /// Sections that no case is in.
    package var unknownSections: [String] {
        sections.filter { section in !Suite.cases.contains { $0.isIn(section: section) } }
    }

    /// Words that match no case.
    package var unknown: [String] {
        words.filter { word in
            !Suite.cases.contains { one in one.orders.contains { one.fits(word, $0) } }
        }
    }
}

extension Case {
    fileprivate func isIn(section: String) -> Bool {
        self.section == section.uppercased() || chapter == section || chapter.hasPrefix(section + ".")
    }

    fileprivate func fits(_ word: String, _ order: UIDOrder) -> Bool {
        Glob(word).fits(id) || Glob(word).fits("\(id)/\(order.rawValue)")
    }

    func with(orders: [UIDOrder]) -> Case {
        Case(
            id, chapter, level: level, title, stimulus: stimulus, expectation: expectation, rules: rules,
            bugs: bugs,
            orders: orders, seconds: seconds, network: network, body)
    }
}

/// A word in which `*` stands for anything and `?` for one character.
private struct Glob {
    let pattern: [Character]
    init(_ text: String) { pattern = Array(text.uppercased()) }

    func fits(_ text: String) -> Bool { Glob.fits(pattern[...], Array(text.uppercased())[...]) }

    private static func fits(_ pattern: ArraySlice<Character>, _ text: ArraySlice<Character>) -> Bool {
        guard let first = pattern.first else { return text.isEmpty }
        if first == "*" {
            return fits(pattern.dropFirst(), text) || (!text.isEmpty && fits(pattern, text.dropFirst()))
        }
        guard let character = text.first, first == "?" || first == character else { return false }
        return fits(pattern.dropFirst(), text.dropFirst())
    }
}
