import MultipeerConnectivity

/// One application of one program, as a process: `MultipeerBehaviour ID left|right SERVICE-TYPE FOLDER`. It prints
/// what it observes, and its exit code is 0 when that is what must happen.
///
/// `MultipeerBehaviour table` prints the table of the documentation.
///
/// As in an application with a user interface, the main thread runs its run loop, and the program is on the main
/// actor.
@main
enum MultipeerBehaviour {
    static func main() {
        let words = CommandLine.arguments
        if words.dropFirst() == ["table"] { return print(Program.table, terminator: "") }
        guard words.count >= 5, let program = Program.named(words[1]), let role = Role(rawValue: words[2])
        else {
            EventRecord.write("usage: MultipeerBehaviour ID left|right SERVICE-TYPE FOLDER, or: table")
            exit(2)
        }
        signal(SIGPIPE, SIG_IGN)
        let folder = URL(fileURLWithPath: words[4], isDirectory: true)
        Task { @MainActor in
            exit(await run(program, role, words[3], folder, isRestarted: words.last == "restarted"))
        }
        while true { RunLoop.main.run() }
    }

    @MainActor
    private static func run(
        _ program: Program, _ role: Role, _ serviceType: String, _ folder: URL, isRestarted: Bool
    ) async -> Int32 {
        do {
            let application = try Application(
                role, serviceType: serviceType, folder: folder, isRestarted: isRestarted)
            do {
                try await (role == .left ? program.left : program.right)(application)
            } catch {
                application.fail("\(error)")
            }
            await application.end()
            return application.hasFailed ? 1 : 0
        } catch {
            EventRecord.write("FAILED: \(error)")
            return 1
        }
    }
}
