/// The completions of a program for fish.
struct FishCompletions {
    private let program: CommandProgram

    init(_ program: CommandProgram) { self.program = program }

    /// The function that returns whether the words before the cursor begin with a command.
    private var isCommand: String { "_\(program.functionName)_is" }
    /// The same for so far no more words than those.
    private var isAfter: String { "_\(program.functionName)_is_after" }

    var text: String {
        var lines = program.firstWords.map { complete([], $0.word, $0.summary) }
        lines += CommandProgram.ownOptions.map { complete([], $0) }
        for (group, members) in program.groups {
            lines += members.map { complete([group], $0.path[1], $0.summary) }
        }
        for usage in program.usages {
            if usage.path.count == 1 { lines.append(complete(["help"], usage.path[0], usage.summary)) }
            lines += usage.options.map { complete(usage, $0) }
            if let operands = operands(usage) { lines.append(operands) }
        }
        return """
            # Completions of \(program.name) for fish, written by '\(program.name) --generate-completion-script fish'.

            function \(isCommand)
                set -l words (commandline -opc)
                set -e words[1]
                for index in (seq (count $argv))
                    test "$words[$index]" = "$argv[$index]"; or return 1
                end
            end

            function \(isAfter)
                set -l words (commandline -opc)
                test (count $words) -eq (math 1 + (count $argv)); and \(isCommand) $argv
            end

            complete -c \(program.name) -f
            \(lines.joined(separator: "\n"))

            """
    }

    /// Completes a word after exactly these.
    private func complete(_ path: [String], _ word: String, _ summary: String) -> String {
        "complete -c \(program.name) -n \(quoted(([isAfter] + path).joined(separator: " "))) -a \(word) -d \(quoted(summary))"
    }

    private func complete(_ path: [String], _ option: Usage.Option) -> String {
        let condition = quoted(([isAfter] + path).joined(separator: " "))
        return "complete -c \(program.name) -n \(condition)\(spelling(option))"
    }

    private func complete(_ usage: Usage, _ option: Usage.Option) -> String {
        "complete -c \(program.name) -n \(condition(usage))\(spelling(option))"
    }

    private func operands(_ usage: Usage) -> String? {
        let start = "complete -c \(program.name) -n \(condition(usage))"
        return switch usage.completion {
        case .none: nil
        case .files, .filesAfterAt: "\(start) -F"
        case .directories: "\(start) -a '(__fish_complete_directories (commandline -ct))'"
        case .words(let list): "\(start) -a \(quoted(list.joined(separator: " ")))"
        }
    }

    private func condition(_ usage: Usage) -> String {
        quoted(([isCommand] + usage.path).joined(separator: " "))
    }

    private func spelling(_ option: Usage.Option) -> String {
        var text = " -l \(option.name.dropFirst(2))"
        if let short = option.short { text += " -s \(short)" }
        if option.value != nil { text += value(option.completion) }
        return text + " -d \(quoted(option.brief))"
    }

    private func value(_ completion: Usage.Completion) -> String {
        switch completion {
        case .none: " -x"
        case .files, .filesAfterAt: " -r -F"
        case .directories: " -x -a '(__fish_complete_directories (commandline -ct))'"
        case .words(let list): " -x -a \(quoted(list.joined(separator: " ")))"
        }
    }

    private func quoted(_ text: String) -> String {
        "'\(text.replacing(each: "\\", with: "\\\\").replacing(each: "'", with: "\\'"))'"
    }
}
