import MultipeerCore
import TestSupport
import Testing

@Suite("13.8 Words of codes", .computing)
struct CodeWordsTests {
    private let words = CodeWords.all

    @Test("1,024 different words in alphabetical order: ten bits each")
    func count() {
        #expect(words.count == 1_024)
        #expect(Set(words).count == words.count)
        #expect(words == words.sorted())
    }

    @Test("each word has 3 to 8 letters from a to z")
    func letters() {
        for word in words {
            #expect((3...8).contains(word.utf8.count), "\(word)")
            #expect(word.utf8.allSatisfy { (0x61...0x7A).contains($0) }, "\(word)")
        }
    }

    @Test("the first four letters determine a word, and none is the beginning of another")
    func beginnings() {
        #expect(Set(words.map { $0.prefix(4) }).count == words.count)
        for (one, next) in zip(words, words.dropFirst()) { #expect(!next.hasPrefix(one), "\(one), \(next)") }
    }

    @Test("one letter changed, left out, added or exchanged with its neighbour never makes another word")
    func distance() {
        // Words that are one edit apart have a form in common: themselves, or what is left without one letter.
        var forms: [String: [String]] = [:]
        for word in words {
            let letters = Array(word)
            let shorter = letters.indices.map { gone in
                String(letters.enumerated().filter { $0.offset != gone }.map(\.element))
            }
            for form in Set([word] + shorter) { forms[form, default: []].append(word) }
        }
        for group in forms.values where group.count > 1 {
            for (place, one) in group.enumerated() {
                for other in group[..<place] { #expect(edits(one, other) >= 2, "\(one), \(other)") }
            }
        }
    }

    @Test("no two words sound alike")
    func sounds() {
        let bySound = Dictionary(grouping: words, by: Self.sound)
        for group in bySound.values { #expect(group.count == 1, "\(group)") }
        #expect(Self.sound("knight") == Self.sound("nite"))
        #expect(Self.sound("flour") == Self.sound("flower") || Self.sound("pear") == Self.sound("pair"))
    }

    @Test("at most two words begin with the same letter and have the same first three consonants")
    func skeletons() {
        let groups = Dictionary(grouping: words, by: Self.skeleton)
        for group in groups.values { #expect(group.count <= 2, "\(group)") }
        #expect(Self.skeleton("robert") == Self.skeleton("rupert"))
    }

    private func edits(_ one: String, _ other: String) -> Int {
        let (a, b) = (Array(one), Array(other))
        var rows = [Array(0...b.count)]
        for i in 1...a.count {
            var row = [i]
            for j in 1...b.count {
                let changed = a[i - 1] == b[j - 1] ? 0 : 1
                var best = min(rows[i - 1][j] + 1, row[j - 1] + 1, rows[i - 1][j - 1] + changed)
                if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] {
                    best = min(best, rows[i - 2][j - 2] + 1)
                }
                row.append(best)
            }
            rows.append(row)
        }
        return rows[a.count][b.count]
    }

    /// What is left of a word in English ears: letters that sound the same become one, silent ones are left out.
    private static func sound(_ word: String) -> String {
        var text = word
        for (beginning, sound) in [("kn", "n"), ("gn", "n"), ("wr", "r"), ("wh", "w"), ("rh", "r")]
        where text.hasPrefix(beginning) { text = sound + text.dropFirst(2) }
        let pairs = [
            ("tch", "C"), ("ch", "C"), ("sh", "S"), ("ph", "f"), ("ck", "k"), ("dge", "j"), ("igh", "i"),
            ("ce", "se"),
            ("ci", "si"), ("cy", "si"), ("c", "k"), ("q", "k"), ("x", "ks"), ("z", "s"), ("ai", "a"),
            ("ay", "a"),
            ("ei", "a"), ("ee", "i"), ("ea", "i"), ("ie", "i"), ("ou", "o"), ("ow", "o"), ("au", "o"),
            ("aw", "o"),
            ("oo", "o"), ("oa", "o"), ("y", "i"), ("er", "r"), ("or", "r"), ("ar", "r"), ("ir", "r"),
            ("ur", "r"),
            ("h", ""),
        ]
        for (letters, sound) in pairs { text = text.split(by: letters).joined(separator: sound) }
        if text.count > 3, text.last == "e" { text.removeLast() }
        var result = ""
        for letter in text where letter != result.last { result.append(letter) }
        return result
    }

    /// The first letter, then the classes of the consonants after it.
    private static func skeleton(_ word: String) -> String {
        let classes = ["bfpvw", "cgjkqsxz", "dt", "l", "mn", "r"]
        func kind(_ letter: Character) -> Int? { classes.firstIndex { $0.contains(letter) } }
        var (result, last) = (String(word.prefix(1)), word.first.flatMap(kind))
        for letter in word.dropFirst() {
            let next = kind(letter)
            if let next, next != last { result += "\(next)" }
            if letter != "h", letter != "w" { last = next }
        }
        return String(result.prefix(4))
    }
}

extension String {
    fileprivate func split(by separator: String) -> [String] {
        var (parts, current, rest) = ([String](), "", self[...])
        while let letter = rest.first {
            if rest.hasPrefix(separator) {
                parts.append(current)
                current = ""
                rest = rest.dropFirst(separator.count)
            } else {
                current.append(letter)
                rest = rest.dropFirst()
            }
        }
        return parts + [current]
    }
}
