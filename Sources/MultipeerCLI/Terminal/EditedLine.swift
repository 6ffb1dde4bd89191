import MultipeerCommandLine
import MultipeerEssentials

/// A line that is being typed, for a terminal in raw mode: keys in, effects out. It knows no terminal, and the input stays
/// together whatever is shown meanwhile.
///
/// The keys are those of Emacs, which every shell has, arrows, Home, End and Delete. Pasted text stays one line until Return,
/// also if it has line breaks.
package struct EditedLine: Equatable, Sendable {
    package enum Effect: Equatable, Sendable {
        case nothing
        /// The line, or the place of the cursor in it, has changed.
        case changed
        case entered(String)
        /// The screen is to be cleared, except for the line.
        case cleared
        /// What was typed or pasted has no room, and is left out: the first since the line was shorter.
        case full
        /// What the line could be completed to.
        case choices([String])
        /// The end of the input.
        case ended
        /// The process is to be suspended.
        case suspended
    }

    /// The parts on both sides of the cursor.
    package private(set) var before = ""
    package private(set) var after = ""
    package var completion: LineCompletion
    private var keys = KeyDecoder()
    private var history = LineHistory()
    /// What was erased last, for Ctrl-Y.
    private var erased = ""
    /// Whether the last key was a Tab: a second one lists the choices.
    private var wasTab = false
    /// Whether something was left out.
    private var isFull = false
    private let longest: Int

    /// In bytes: more than a person types, and what a terminal takes in a moment.
    package static let longest = 262_144

    package init(longest: Int = EditedLine.longest, completion: LineCompletion = LineCompletion()) {
        self.longest = longest
        self.completion = completion
    }

    package var text: String { before + after }

    /// Handles one byte of input.
    package mutating func take(_ byte: UInt8) -> Effect {
        guard let key = keys.take(byte) else { return .nothing }
        let isSecondTab = wasTab && key == .tab
        wasTab = key == .tab
        switch key {
        case .text(let scalar): return insert(String(scalar))
        case .enter: return enter()
        case .endOfInput where text.isEmpty: return .ended
        case .clearScreen: return .cleared
        case .suspend: return .suspended
        case .tab: return complete(isSecond: isSecondTab)
        case .yank: return insert(erased)
        case .up: return recall(history.older(than: text))
        case .down: return recall(history.newer())
        default:
            let old = (before, after)
            edit(key)
            isFull = false
            return (before, after) == old ? .nothing : .changed
        }
    }

    private mutating func edit(_ key: KeyDecoder.Key) {
        switch key {
        case .backspace: _ = before.popLast()
        case .delete, .endOfInput: if !after.isEmpty { after.removeFirst() }
        case .left: move(1, isBack: true)
        case .right: move(1, isBack: false)
        case .wordLeft: move(EditedLine.lengthOfWord(before.reversed()), isBack: true)
        case .wordRight: move(EditedLine.lengthOfWord(Array(after)), isBack: false)
        case .home: move(before.count, isBack: true)
        case .end: move(after.count, isBack: false)
        case .eraseToStart: erase(before.count, isBack: true)
        case .eraseToEnd: erase(after.count, isBack: false)
        case .eraseWord: erase(EditedLine.lengthOfWord(before.reversed()), isBack: true)
        case .eraseNextWord: erase(EditedLine.lengthOfWord(Array(after)), isBack: false)
        case .text, .enter, .tab, .up, .down, .yank, .clearScreen, .suspend: break
        }
    }

    private mutating func enter() -> Effect {
        let line = text
        (before, after) = ("", "")
        isFull = false
        history.add(line)
        return .entered(line)
    }

    private mutating func insert(_ more: String) -> Effect {
        guard !more.isEmpty else { return .nothing }
        guard before.utf8.count + after.utf8.count + more.utf8.count <= longest else {
            defer { isFull = true }
            return isFull ? .nothing : .full
        }
        before += more
        return .changed
    }

    private mutating func recall(_ line: String?) -> Effect {
        guard let line else { return .nothing }
        (before, after) = (line, "")
        return .changed
    }

    private mutating func move(_ count: Int, isBack: Bool) {
        if isBack {
            after = before.suffix(count) + after
            before.removeLast(min(count, before.count))
        } else {
            before += after.prefix(count)
            after.removeFirst(min(count, after.count))
        }
    }

    private mutating func erase(_ count: Int, isBack: Bool) {
        guard count > 0 else { return }
        if isBack {
            erased = String(before.suffix(count))
            before.removeLast(count)
        } else {
            erased = String(after.prefix(count))
            after.removeFirst(count)
        }
    }

    /// Returns the number of characters up to the end of a word, with the spaces before it.
    private static func lengthOfWord(_ characters: [Character]) -> Int {
        let spaces = characters.prefix(while: \.isWhitespace).count
        return spaces + characters.dropFirst(spaces).prefix { !$0.isWhitespace }.count
    }

    private mutating func complete(isSecond: Bool) -> Effect {
        guard let choices = completion.choices(for: before) else { return .nothing }
        let isOnly = choices.words.count == 1
        // A path goes on after a directory.
        let isComplete = isOnly && !choices.common.ends(with: "/")
        let replacement = choices.common + (isComplete ? " " : "")
        let line = before.dropLast(choices.length) + replacement
        if line != before, line.utf8.count + after.utf8.count <= longest {
            before = String(line)
            return .changed
        }
        return isSecond && !isOnly ? .choices(choices.words) : .nothing
    }
}

extension EditedLine {
    /// The part of the line that is shown.
    package struct View: Equatable, Sendable {
        package let text: String
        /// The part before the cursor, if there is something after it.
        package let beforeCursor: String?
    }

    /// Returns what fits `width` columns around the cursor, for a terminal that shows characters beyond ASCII, or not.
    ///
    /// Terminals differ in the width of emoji of several characters. So the widest counts, and the cursor is moved by writing
    /// what is before it once more.
    package func view(width: Int, isASCII: Bool = false) -> View {
        var used = 0
        var (head, tail): ([String], [String]) = ([], [])
        var next = after.startIndex
        // Up to a fourth is kept for what follows the cursor, and the rest for what precedes it.
        func take(_ limit: Int) {
            while next < after.endIndex {
                let (text, columns) = EditedLine.cell(after[next], isASCII)
                guard used + columns <= limit else { return }
                used += columns
                tail.append(text)
                after.formIndex(after: &next)
            }
        }
        take(width / 4)
        // Only what fits is looked at: the line may be long.
        for character in before.reversed() {
            let (text, columns) = EditedLine.cell(character, isASCII)
            guard used + columns <= width else { break }
            used += columns
            head.append(text)
        }
        take(width)
        let start = head.reversed().joined()
        return View(text: start + tail.joined(), beforeCursor: after.isEmpty ? nil : start)
    }

    private static func cell(_ character: Character, _ isASCII: Bool) -> (text: String, columns: Int) {
        let shown = shown(character, isASCII)
        return (shown, shown.reduce(0) { $0 + $1.mostColumns })
    }

    private static func shown(_ character: Character, _ isASCII: Bool) -> String {
        if character == "\n" { return isASCII ? "\\n" : "\u{21B5}" }
        let text = String(character).printableText
        return isASCII ? text.asASCII : text
    }
}
