import MultipeerCLI
import MultipeerCommandLine
import MultipeerConform
import TestSupport
import Testing

private let programs = [Multipeer.program, MultipeerConform.program]

@Suite("Command: manual and completions", .inTurns)
struct GeneratedTextTests {
    @Test(
        "the completions of each shell have every command, option and known value of the help",
        arguments: programs.map(\.name), CommandProgram.Shell.allCases)
    func completions(_ name: String, _ shell: CommandProgram.Shell) throws {
        let program = try #require(programs.first { $0.name == name })
        let text = program.completions(for: shell)
        for usage in program.usages {
            for word in usage.path + usage.words { #expect(text.contains(word), "\(word)") }
            for option in usage.options {
                let spelling = shell == .fish ? "-l \(option.name.dropFirst(2)) " : option.name
                #expect(text.contains(spelling), "\(usage.command) \(option.name)")
                for word in option.words { #expect(text.contains(word), "\(option.name) \(word)") }
            }
        }
    }

    @Test(
        "the manual has a page for the program, and one for each command with every option and exit code",
        arguments: programs.map(\.name))
    func manual(_ name: String) throws {
        let program = try #require(programs.first { $0.name == name })
        let pages = program.manual(date: "2026-01-02")
        #expect(pages.count == 1 + program.usages.count)
        #expect(pages[0].file == "\(name).1")
        for page in pages {
            #expect(page.text.contains(" 1 \"2026-01-02\" \"\(name) \(CommandProgram.version)\""))
            #expect(!page.text.contains("\n\n"), "an empty line is not for man(7)")
        }
        for (usage, page) in zip(program.usages, pages.dropFirst()) {
            #expect(page.file == "\(([name] + usage.path).joined(separator: "-")).1")
            #expect(pages[0].text.contains(".BR \(page.file.dropLast(2).replacing("-", with: "\\-")) (1)"))
            for option in usage.options {
                #expect(page.text.contains("\\fB\(option.name.replacing("-", with: "\\-"))\\fR"))
            }
            for code in usage.exits { #expect(page.text.contains("\\fB\(code.rawValue)\\fR")) }
        }
    }

    @Test("the page of the program has the files, and every variable that the help of a command names")
    func environment() {
        let page = Multipeer.program.manual(date: "2026-01-02")[0].text
        for section in ["FILES", "ENVIRONMENT"] { #expect(page.contains("\n.SH \(section)\n")) }
        let help = Multipeer.program.usages.map { $0.wholeHelp(width: 100) }.joined()
        let variables = Set(help.matches(of: /variable\s+([A-Z_]+)/).map { String($0.1) })
        #expect(variables.isSuperset(of: ["MULTIPEER_INTERFACES", "MULTIPEER_PASSPHRASE", "NO_COLOR"]))
        for variable in variables { #expect(page.contains("\\fB\(variable)\\fR"), "\(variable)") }
    }

    @Test("no line of the manual is taken for a request by mistake")
    func requests() {
        let known: Set = ["TH", "SH", "TP", "PP", "BR", "RS", "RE", "nf", "fi", "sp", "br", "nh", "ad"]
        for page in programs.flatMap({ $0.manual(date: "2026-01-02") }) {
            for line in page.text.split(separator: "\n") {
                #expect(!line.hasPrefix("'"), "\(page.file): \(line)")
                guard line.hasPrefix(".") else { continue }
                #expect(
                    known.contains(String(line.dropFirst().prefix { $0 != " " })), "\(page.file): \(line)")
            }
        }
    }

    @Test("both programs write them on request, with the date that SOURCE_DATE_EPOCH says")
    func commands() async throws {
        let folder = try Folder()
        for program in programs {
            let script = try await Command(["--generate-completion-script", "fish"], program: program.name)
                .finish()
            #expect(script.text == program.completions(for: .fish))
            let ending = try await Command(
                ["--generate-manual", folder.path(".")], program: program.name,
                environment: ["SOURCE_DATE_EPOCH": "86400"]
            ).finish()
            #expect(ending.code == 0, "\(ending.errors)")
            for page in program.manual(date: "1970-01-02") {
                let written = try AtomicFile.read(folder.path(page.file))
                #expect(String(decoding: written, as: UTF8.self) == page.text)
            }
        }
        let wrong = try await Command.run("--generate-completion-script", "csh")
        #expect(wrong.code == 2)
        #expect(wrong.errors.contains("--generate-completion-script takes one of bash, zsh, fish"))
    }

    @Test(
        "the placeholder of a value says what a shell completes",
        arguments: [
            ("FILE", Usage.Completion.files), ("FILE... [NAME]", .files), ("@FILE", .filesAfterAt),
            ("[CODE|DIR]", .directories), ("REPORT REPORT…", .files), ("NAME", .none), ("", .none),
        ])
    func placeholders(_ placeholder: String, _ completion: Usage.Completion) {
        #expect(Usage("x", operands: placeholder).completion == completion)
    }
}

extension Usage {
    fileprivate init(_ word: String, operands: String) { self.init([word], operands: operands, "a test") }
}
