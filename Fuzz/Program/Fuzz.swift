import Foundation
import FuzzBodies

// One program for all harnesses. In a fuzzing build libFuzzer owns `main`, and the harness is named by `--harness=NAME`:
// libFuzzer leaves options with two dashes alone and passes them on to the processes that it starts itself. Without that
// option it is the name of the program, as OSS-Fuzz runs it.

#if FUZZING
    /// The harness of this process.
    private let body: FuzzBody = {
        let option = "--harness="
        let argument = CommandLine.arguments.last { $0.hasPrefix(option) }
        let program = URL(filePath: CommandLine.arguments.first ?? "").lastPathComponent
        guard let body = FuzzBody.named(argument?.dropFirst(option.count) ?? program[...]) else {
            print("--harness=NAME is missing; NAME is one of: \(FuzzBody.allNames)")
            exit(2)
        }
        return body
    }()

    /// Where libFuzzer enters.
    @_cdecl("LLVMFuzzerTestOneInput")
    public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
        unsafe body.attack(start, count)
        return 0
    }
#else
    /// Runs a harness over files and folders, or over everything that is kept for it.
    @main
    enum Fuzz {
        private static let usage = """
            usage: fuzz [NAME [FILE...]]

            Runs the harness NAME over each FILE, or over every file of a folder. Without FILE it runs
            over its seeds and regressions, and without NAME all harnesses run over theirs.
            Exits with 1 when a promise is broken.

            NAME is one of: \(FuzzBody.allNames)
            """

        static func main() {
            let arguments = CommandLine.arguments.dropFirst()
            if arguments.contains("--help") || arguments.contains("-h") { return print(usage) }
            do {
                guard let name = arguments.first else {
                    for body in FuzzBody.all { try body.replay() }
                    return
                }
                guard let body = FuzzBody.named(name) else {
                    print("fuzz: unknown harness '\(name)'\n\n\(usage)")
                    exit(2)
                }
                try arguments.count == 1 ? body.replay() : body.replay(Array(arguments.dropFirst()))
            } catch {
                print("\(error)")
                exit(1)
            }
        }
    }
#endif
