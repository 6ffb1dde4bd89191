/// The completions of a program for bash, which need nothing but bash itself.
struct BashCompletions {
    private let program: CommandProgram

    init(_ program: CommandProgram) { self.program = program }

    var text: String {
        let function = program.functionName
        let first = program.firstWords.map(\.word) + CommandProgram.ownOptions.map(\.name)
        let groups = program.groups.map { group, members in
            """
                \(group))
                    if ((COMP_CWORD == 2)); then \(words(members.map { $0.path[1] })); return; fi
                    command="$command ${COMP_WORDS[2]}"
                    ;;

            """
        }
        let help = program.usages.map { $0.path.joined(separator: " ") }.filter { !$0.contains(" ") }
        return """
            # Completions of \(program.name) for bash, written by '\(program.name) --generate-completion-script bash'.

            \(function)_words() {
                mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current")
            }

            \(function)_files() {
                compopt -o filenames 2>/dev/null
                mapfile -t COMPREPLY < <(compgen "$1" -- "$current")
            }

            \(function)_files_after_at() {
                [[ $current == @* ]] || return
                mapfile -t COMPREPLY < <(compgen -f -P @ -- "${current#@}")
            }

            \(function)() {
                local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]}
                COMPREPLY=()
                # Bash takes the '=' of --option=value for a word of its own.
                if [[ $current == = ]]; then
                    current=
                elif [[ $previous == = ]]; then
                    previous=${COMP_WORDS[COMP_CWORD-2]}
                fi
                if ((COMP_CWORD == 1)); then \(words(first)); return; fi
                case $command in
            \(groups.joined())    help) \(words(help)); return ;;
                esac
                case $command in
            \(program.usages.map(command).joined())    esac
            }

            complete -F \(function) \(program.name)

            """
    }

    /// The case of one command: first the values of its options, then its options and operands.
    private func command(_ usage: Usage) -> String {
        let values = usage.options.filter { $0.value != nil }.map { option in
            "        \(option.spellings.joined(separator: "|"))) \(call(option.completion)); return ;;\n"
        }
        let name = usage.path.joined(separator: " ")
        return """
                "\(name)")
                    case $previous in
            \(values.joined())        esac
                    if [[ $current == -* ]]; then
                        \(words(usage.options.map(\.name)))
                    else
                        \(call(usage.completion))
                    fi
                    ;;

            """
    }

    private func words(_ words: [String]) -> String {
        "\(program.functionName)_words '\(words.joined(separator: " "))'"
    }

    private func call(_ completion: Usage.Completion) -> String {
        switch completion {
        case .none: ":"
        case .files: "\(program.functionName)_files -f"
        case .filesAfterAt: "\(program.functionName)_files_after_at"
        case .directories: "\(program.functionName)_files -d"
        case .words(let list): words(list)
        }
    }
}
