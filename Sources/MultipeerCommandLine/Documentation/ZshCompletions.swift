/// The completions of a program for zsh: a file in a folder of its `fpath`, whose name is that of the program after `_`.
struct ZshCompletions {
    private let program: CommandProgram

    init(_ program: CommandProgram) { self.program = program }

    var text: String {
        let function = program.functionName
        let groups = program.groups.map { group, members in
            """
                (\(group))
                    if ((CURRENT == 3)); then
            \(described(members.map { ($0.path[1], $0.summary) }, indent: "            "))
                        return
                    fi
                    command="$command $words[3]"
                    shift words
                    ((CURRENT--))
                    ;;

            """
        }
        let help = program.usages.map { ($0.path.joined(separator: " "), $0.summary) }
        return """
            #compdef \(program.name)
            # Completions of \(program.name) for zsh, written by '\(program.name) --generate-completion-script zsh'.

            \(function)() {
                local command=$words[2]
                local -a commands
                if ((CURRENT == 2)); then
                    if [[ $PREFIX == -* ]]; then
                        _arguments \(CommandProgram.ownOptions.map(specification).joined(separator: " "))
                        return
                    fi
            \(described(program.firstWords.map { ($0.word, $0.summary) }, indent: "        "))
                    return
                fi
                case $command in
            \(groups.joined())    (help)
            \(described(help.filter { !$0.0.contains(" ") }, indent: "        "))
                    return
                    ;;
                esac
                shift words
                ((CURRENT--))
                case $command in
            \(program.usages.map(command).joined())    esac
            }

            if [[ $funcstack[1] == \(function) || $funcstack[1] == _\(program.name) ]]; then
                \(function) "$@"
            else
                compdef \(function) \(program.name)
            fi

            """
    }

    private func described(_ rows: [(String, String)], indent: String) -> String {
        let words = rows.map { "\(indent)    \(quoted("\($0):\($1)"))\n" }.joined()
        return "\(indent)commands=(\n\(words)\(indent))\n\(indent)_describe -t commands command commands"
    }

    private func command(_ usage: Usage) -> String {
        var specifications = usage.options.map(specification)
        let placeholder = escaped(usage.operands.isEmpty ? " " : usage.operands)
        if usage.mostOperands > 0 {
            specifications.append(quoted("*:\(placeholder):\(action(usage.completion))"))
        }
        let list = specifications.map { "            \($0)" }.joined(separator: " \\\n")
        return
            "    (\(quoted(usage.path.joined(separator: " "))))\n        _arguments -s -S \\\n\(list)\n        ;;\n"
    }

    /// One option as `_arguments` takes it.
    private func specification(_ option: Usage.Option) -> String {
        let brief = option.brief.replacing(each: "[", with: "\\[").replacing(each: "]", with: "\\]")
        var explanation = "[\(brief)]"
        if let value = option.value { explanation += ":\(escaped(value)):\(action(option.completion))" }
        let suffixes = option.value == nil ? (short: "", long: "") : (short: "+", long: "=")
        guard let short = option.short else {
            return quoted((option.isRepeatable ? "*" : "") + option.name + suffixes.long + explanation)
        }
        let others = option.isRepeatable ? "'*'" : "'(-\(short) \(option.name))'"
        return "\(others){-\(short)\(suffixes.short),\(option.name)\(suffixes.long)}\(quoted(explanation))"
    }

    private func action(_ completion: Usage.Completion) -> String {
        switch completion {
        case .none: " "
        case .files: "_files"
        case .filesAfterAt: "{compset -P @ && _files}"
        case .directories: "_files -/"
        case .words(let list): "(\(list.joined(separator: " ")))"
        }
    }

    private func escaped(_ text: String) -> String { text.replacing(each: ":", with: "\\:") }

    private func quoted(_ text: String) -> String { "'\(text.replacing(each: "'", with: "'\\''"))'" }
}
