import MultipeerConnectivity

/// What an application does with the same `MCSession` objects very often or very much, and what is left behind: for the
/// acceptance run. Run it with `MULTIPEER_INTERFACES=lo`.
@main
enum MultipeerReuse {
    struct Failure: Error, CustomStringConvertible { let description: String }

    static func main() {
        let words = Array(CommandLine.arguments.dropFirst())
        do {
            switch (words.first, words.dropFirst().first.flatMap { Int($0) }, words.count) {
            case ("cycles", let count?, 2): try Cycles(count).run()
            case ("reader-that-stops", nil, 1): try StoppedReader().run()
            case ("exit", nil, 1): try SuddenExit().run()
            default:
                throw Failure(
                    description: "usage: MultipeerReuse cycles COUNT | reader-that-stops | exit")
            }
        } catch {
            print("failed: \(error)")
            exit(1)
        }
    }

    static func expect(_ condition: Bool, _ text: @autoclosure () -> String) throws {
        if !condition { throw Failure(description: text()) }
    }
}

/// What the system counts of this process.
struct Figures: CustomStringConvertible {
    let threads: Int
    let descriptors: Int
    /// In MiB.
    let memory: Int

    init() throws {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        func number(_ name: String) -> Int {
            let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") } ?? ""
            return line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0
        }
        threads = number("Threads")
        memory = number("VmRSS") / 1_024
        descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
    }

    var description: String { "\(threads) threads, \(descriptors) descriptors, \(memory) MiB" }
}
