import MultipeerConnectivity

/// Repeated or heavy use of the same `MCSession` objects, and a check for leaks, for the acceptance run. Run it with
/// `MULTIPEER_INTERFACES=lo`.
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
            case ("blocked-main", nil, 1): BlockedMain().run()
            case ("small-reads", let count?, 2): try SmallReads(count).run()
            case ("schedulings", let count?, 2): try Schedulings(count).run()
            case ("long-stream", let size?, 2): try LongStream(mebibytes: size).run()
            default:
                throw Failure(
                    description:
                        "usage: MultipeerReuse cycles COUNT | reader-that-stops | exit | blocked-main | "
                        + "small-reads COUNT | schedulings COUNT | long-stream MEBIBYTES")
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
