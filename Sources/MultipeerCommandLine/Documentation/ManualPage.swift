/// A page of the manual, with the macros of man(7), from the definitions that the help has.
package struct ManualPage: Sendable {
    /// The name of its file, such as `multipeer-send.1`.
    package let file: String
    package let text: String

    /// The page of one command.
    init(of usage: Usage, in program: CommandProgram, date: String) {
        let name = ManualPage.name(usage, program)
        let words = [program.name] + usage.path
        var parts = ["\(Roff.bold(words.joined(separator: " ")))"]
        if usage.options.count > 1 { parts.append("[options]") }
        if !usage.operands.isEmpty { parts.append(Roff.italic(usage.operands)) }
        var sections = [
            ("NAME", "\(Roff.text(name)) \\- \(Roff.text(usage.summary))"),
            ("SYNOPSIS", parts.joined(separator: "\n")),
            (
                "DESCRIPTION",
                Roff.paragraphs(usage.details.isEmpty ? ManualPage.sentence(usage.summary) : usage.details)
            ),
            ("OPTIONS", Roff.list(usage.options.map { (ManualPage.term($0), $0.summary) })),
        ]
        let codes = ([.success, .usage] + usage.exits).sorted { $0.rawValue < $1.rawValue }
        let endings = codes.map { (Roff.bold("\($0.rawValue)"), usage.meanings[$0] ?? $0.meaning) }
        sections.append(("EXIT STATUS", Roff.list(endings)))
        if !usage.examples.isEmpty { sections.append(("EXAMPLES", Roff.paragraphs(usage.examples))) }
        sections.append(("SEE ALSO", Roff.reference(program.name)))
        self.init(name, program, date, sections)
    }

    /// The page of the program itself, which names those of its commands.
    init(of program: CommandProgram, date: String) {
        let commands = program.usages.filter { !$0.path.isEmpty }
        let rows = commands.map { usage in
            (Roff.bold(usage.path.joined(separator: " ")), usage.summary)
        }
        var sections = [
            ("NAME", "\(Roff.text(program.name)) \\- \(Roff.text(ManualPage.phrase(program.summary)))"),
            (
                "SYNOPSIS",
                "\(Roff.bold(program.name))\n\(Roff.italic("COMMAND"))\n[options]\n.br\n\(Roff.bold(program.name))\n"
                    + "{\(Roff.bold("--help"))|\(Roff.bold("--version"))|\(Roff.bold("help")) \(Roff.italic("COMMAND"))}"
            ),
            ("DESCRIPTION", Roff.paragraphs(program.summary)),
            ("COMMANDS", Roff.list(rows)),
            ("EXIT STATUS", Roff.list(program.exits.map { (Roff.bold($0), $1) })),
        ]
        if !program.files.isEmpty {
            sections.append(("FILES", Roff.list(program.files.map { (Roff.italic($0), $1) })))
        }
        if !program.variables.isEmpty {
            sections.append(("ENVIRONMENT", Roff.list(program.variables.map { (Roff.bold($0), $1) })))
        }
        if !program.examples.isEmpty { sections.append(("EXAMPLES", Roff.paragraphs(program.examples))) }
        let names = commands.map { ManualPage.name($0, program) }.sorted()
        sections.append(("SEE ALSO", names.map(Roff.reference).joined(separator: ",\n")))
        self.init(program.name, program, date, sections)
    }

    private init(
        _ name: String, _ program: CommandProgram, _ date: String, _ sections: [(String, String)]
    ) {
        file = "\(name).1"
        let title = name.uppercased().replacing(each: "-", with: "\\-")
        let head = ".TH \"\(title)\" 1 \"\(date)\" \"\(program.name) \(CommandProgram.version)\"\n"
        text =
            head + ".nh\n.ad l\n" + sections.map { ".SH \($0)\n\($1)\n" }.joined()
    }

    private static func name(_ usage: Usage, _ program: CommandProgram) -> String {
        ([program.name] + usage.path).joined(separator: "-")
    }

    private static func term(_ option: Usage.Option) -> String {
        let names = option.spellings.map(Roff.bold).joined(separator: ", ")
        return option.value.map { "\(names) \(Roff.italic($0))" } ?? names
    }

    private static func sentence(_ text: String) -> String {
        text.prefix(1).uppercased() + text.dropFirst() + "."
    }

    /// A summary as NAME has it: without a capital and a full stop.
    private static func phrase(_ text: String) -> String {
        text.prefix(1).lowercased() + text.dropFirst().prefix { $0 != "." }
    }
}

extension CommandProgram {
    /// Returns the pages of the manual: that of the program, and one for each command. `date`: when this version was made.
    package func manual(date: String) -> [ManualPage] {
        [ManualPage(of: self, date: date)]
            + usages.filter { !$0.path.isEmpty }.map { ManualPage(of: $0, in: self, date: date) }
    }
}
