import MultipeerCommandLine
import MultipeerEssentials

/// The code of a command: made by this side, or by the other one and given to this side.
enum CodeOption: Equatable, Sendable {
    case making(InvitationCode)
    case given(InvitationCode)

    private static let name = "--code"
    /// How many words a code has that one peer uses once, and one that a whole room shares, which can be tried as long as there
    /// is the room: 40 bits.
    static let wordCounts = (oneTime: 2, room: 4)
    /// A number and eight words, with spaces in between.
    static let mostOperands = 9
    private static let new = "new"

    /// For a command that links with one peer.
    static let oneTime = Usage.Option(
        name, short: "c", "CODE",
        "the one-time code that the other side shows, such as 7-guitar-island; @FILE or @- reads it from a file or "
            + "standard input, where other users of this machine cannot see it; new makes one for the other side"
    )
    /// For a command that makes a code unless it is given one.
    static let quiet = Usage.Option(
        "--quiet", short: "q",
        "print only errors, and a new code alone, on standard output; with --out, do not show your connection data"
    )
    /// For a room.
    static let room = Usage.Option(
        name, short: "c", "CODE",
        "the code of the room, which everyone in it has; @FILE reads it from a file, where other users of this machine "
            + "cannot see it; new makes one")

    /// Returns the code that was given, as an operand or with the option, or a new one; nil if the command is to use none.
    /// `takingOperands`: the operands can be the code, with spaces in place of hyphens. `isRoom`: it is that of a room.
    static func read(
        _ arguments: Arguments, takingOperands: Bool = false, isRoom: Bool = false
    ) throws(CommandError) -> CodeOption? {
        let operands = takingOperands ? arguments.operands : []
        let isOperand = takingOperands && isOperand(arguments)
        guard isOperand || operands.count < 2 else {
            throw arguments.commandError("unexpected argument '\(operands[1])'")
        }
        guard let text = arguments.value(name) else {
            return isOperand ? .given(try code(operands.joined(separator: "-"), isRoom)) : nil
        }
        guard operands.isEmpty else {
            throw arguments.commandError("\(name) and an argument cannot be used together")
        }
        if text == new { return .making(.random(words: isRoom ? wordCounts.room : wordCounts.oneTime)) }
        guard let file = text.rest(after: "@") else { return .given(try code(text, isRoom)) }
        let line =
            file == "-"
            ? try DescriptorStream.input.readLine()
            : String(decoding: try AtomicFile.read(String(file), limit: 65_536), as: UTF8.self)
                .lines.first { !$0.isEmpty }.map(String.init)
        guard let line else { throw CommandError("no code in \(text.printable)", exit: .badInput) }
        return .given(try code(line, isRoom))
    }

    /// Returns whether the operands are meant to be a code.
    static func isOperand(_ arguments: Arguments) -> Bool { InvitationCode.isMeant(by: arguments.operands) }

    /// Throws when a name is a code: what is done with a name has not what a code guarantees. `kind`: what the name is to be.
    static func refuse(_ text: String, as kind: String) throws(CommandError) {
        guard InvitationCode.isMeant(by: [text]) else { return }
        do throws(MultipeerError) { _ = try InvitationCode(text) } catch { return }
        throw CommandError(
            "'\(text.printable)' is a code, and not \(kind)",
            hint: "use it as '\(Terminal.name) CODE', or with \(name) CODE", exit: .usage)
    }

    /// Returns the operand if it is not a code, or else the value of the option that it stands for.
    static func operandOrOption(_ option: String, _ arguments: Arguments) throws(CommandError) -> String? {
        guard !CodeOption.isOperand(arguments), let operand = arguments.operands.first else {
            let value = arguments.value(option)
            if let value { try refuse(value, as: "the value of \(option)") }
            return value
        }
        guard arguments.operands.count == 1 else {
            throw arguments.commandError("unexpected argument '\(arguments.operands[1])'")
        }
        try ConnectionDataInput.refuse(asOperand: operand)
        try arguments.exclude([option], orOperand: true)
        return operand
    }

    private static func code(_ text: String, _ isRoom: Bool) throws(CommandError) -> InvitationCode {
        let code: InvitationCode
        do throws(MultipeerError) {
            code = try InvitationCode(text)
        } catch {
            throw CommandError(
                error.description.printable, hint: "type it as the other side shows it", exit: .badInput)
        }
        // A member of a room could pose as the one peer that has a one-time code.
        guard (code.words.count >= wordCounts.room) == isRoom else {
            let count = isRoom ? "at least \(wordCounts.room) words" : "fewer than \(wordCounts.room) words"
            let kind = isRoom ? "the code of a room" : "a one-time code"
            throw CommandError(
                "\(kind) has \(count), and this one has \(code.words.count)",
                hint: isRoom ? nil : "codes of rooms are for '\(Terminal.name) chat --code'", exit: .badInput)
        }
        return code
    }

    /// Throws when an option is given that contradicts a code.
    static func exclude(_ options: [String], _ arguments: Arguments) throws(CommandError) {
        guard let other = options.first(where: arguments.has) else { return }
        throw arguments.commandError("a code and \(other) cannot be used together")
    }
}
