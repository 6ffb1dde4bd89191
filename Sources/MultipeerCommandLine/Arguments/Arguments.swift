import MultipeerEssentials

/// The words after a command's name, sorted into options and operands according to its usage.
///
/// `--name value`, `--name=value`; `-n value`, `-nvalue`, and `-ab` for `-a -b`; `--` ends the options; `-` is an operand.
package struct Arguments: Equatable, Sendable {
    package private(set) var operands: [String] = []
    /// Whether help was requested: then everything else is ignored.
    package private(set) var wantsHelp = false
    private var given: [String: [String]] = [:]
    private let usage: Usage

    /// Throws the first mistake, as the line that the user reads.
    package init(_ words: [String], for usage: Usage) throws(CommandError) {
        self.usage = usage
        let options = words.prefix { $0 != "--" }
        wantsHelp = options.contains { $0 == "--help" || $0 == "-h" }
        guard !wantsHelp else { return }
        var rest = words[...]
        while let word = rest.popFirst() {
            if word == "--" {
                for operand in rest { try add(operand) }
                return
            }
            if word.begins(with: "-"), word.count > 1 {
                try take(word, &rest)
            } else {
                try add(word)
            }
        }
    }

    private mutating func add(_ operand: String) throws(CommandError) {
        guard operands.count < usage.mostOperands else {
            throw commandError("unexpected argument '\(operand)'")
        }
        operands.append(operand)
    }

    private mutating func take(_ word: String, _ rest: inout ArraySlice<String>) throws(CommandError) {
        guard word.begins(with: "--") else { return try takeLetters(word, &rest) }
        let parts = word.pieces(at: "=", atMost: 2, keepingEmpty: true).map(
            String.init)
        guard let option = usage.option(parts[0]) else { throw unknown(parts[0]) }
        try take(option, parts.count == 2 ? parts[1] : nil, &rest)
    }

    /// Takes options of one letter each. The rest of the word after one with a value is the value.
    private mutating func takeLetters(
        _ word: String, _ rest: inout ArraySlice<String>
    ) throws(CommandError) {
        var letters = word.dropFirst()
        while let letter = letters.popFirst() {
            guard let option = usage.option("-\(letter)") else {
                throw unknown(word.count == 2 ? word : "-\(letter)' in '\(word)")
            }
            guard option.value != nil, !letters.isEmpty else {
                try take(option, nil, &rest)
                continue
            }
            return try take(option, String(letters), &rest)
        }
    }

    private mutating func take(
        _ option: Usage.Option, _ attached: String?, _ rest: inout ArraySlice<String>
    ) throws(CommandError) {
        guard given[option.name] == nil || option.isRepeatable else {
            throw commandError("option '\(option.name)' was given twice")
        }
        guard let placeholder = option.value else {
            guard attached == nil else { throw commandError("option '\(option.name)' takes no value") }
            given[option.name] = []
            return
        }
        guard let value = attached ?? rest.popFirst(), !value.isEmpty else {
            throw commandError("option '\(option.name)' needs a value: \(placeholder)")
        }
        given[option.name, default: []].append(value)
    }

    private func unknown(_ word: String) -> CommandError {
        let text = "unknown option '\(word)'".printable
        guard let meant = Spelling.nearest(word, of: usage.options.map(\.name)) else {
            return commandError(text)
        }
        return CommandError(text, hint: "did you mean '\(meant)'?", exit: .usage)
    }
}

extension Arguments {
    /// Returns whether the command has that option.
    package func takes(_ option: String) -> Bool { usage.option(option) != nil }

    package func has(_ option: String) -> Bool { given[option] != nil }

    package func values(_ option: String) -> [String] { given[option] ?? [] }

    package func value(_ option: String) -> String? { given[option]?.last }

    /// Returns a whole number in a range.
    package func number(_ option: String, in range: ClosedRange<Int>) throws(CommandError) -> Int? {
        guard let text = value(option) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw commandError(
                "option '\(option)' takes a number from \(range.lowerBound) to \(range.upperBound), not '\(text)'"
            )
        }
        return number
    }

    /// Returns a number of bytes, with or without a unit.
    package func size(_ option: String) throws(CommandError) -> UInt64? {
        guard let text = value(option) else { return nil }
        guard let size = HumanReadable.count(of: text), size > 0 else {
            throw commandError("option '\(option)' takes a size such as 64K, 20M or 1.5G, not '\(text)'")
        }
        return size
    }

    /// Returns the value for one of some words.
    package func choice<Value>(
        _ option: String, of names: [String], _ read: (String) -> Value?
    ) throws(CommandError) -> Value? {
        guard let text = value(option) else { return nil }
        guard names.contains(text), let value = read(text) else {
            let list = names.dropLast().joined(separator: ", ") + " or " + (names.last ?? "")
            throw commandError("option '\(option)' takes \(list), not '\(text)'")
        }
        return value
    }

    /// Throws when more than one of these was given.
    package func exclude(_ options: [String], orOperand: Bool = false) throws(CommandError) {
        let found = options.filter(has) + (orOperand ? operands.prefix(1).map { _ in "an argument" } : [])
        guard found.count < 2 else {
            throw commandError("\(found[0]) and \(found[1]) cannot be used together")
        }
    }

    package func commandError(_ text: String) -> CommandError { .usage(text.printable, try: usage.command) }
}
