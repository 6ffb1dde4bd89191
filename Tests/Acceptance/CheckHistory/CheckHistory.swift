import Foundation
import MultipeerHistory

/// `check-history [--slack SECONDS] FILES…`: checks whether the histories of processes have the eight properties.
///
/// Exits with 0 when they have, 1 when they have not, 2 when it cannot decide.
@main
enum CheckHistory {
    private static let most = 50

    static func main() {
        var words = Array(CommandLine.arguments.dropFirst())
        var slack = 0.0
        if words.first == "--slack", words.count >= 2 {
            guard let seconds = Double(words[1]), (0...3_600).contains(seconds) else { return refuse() }
            slack = seconds
            words.removeFirst(2)
        }
        guard !words.isEmpty, !words.contains(where: { $0.hasPrefix("-") }) else { return refuse() }
        do {
            let history = try History(files: words)
            let checker = Checker(history, Checker.Limits(slack: slack))
            let violations = checker.violations()
            for violation in violations.prefix(most) { print(violation) }
            if violations.count > most { print("and \(violations.count - most) more") }
            print(summary(history, checker.longest(), violations.count))
            exit(violations.isEmpty ? 0 : 1)
        } catch {
            complain("\(error.localizedDescription)")
        }
    }

    private static func summary(
        _ history: History, _ longest: (told: Double, untold: Double, silent: Double), _ violations: Int
    ) -> String {
        func seconds(_ value: Double) -> String { String(format: "%.2f s", value) }
        let entries = history.runs.flatMap(\.lines).map(\.entry)
        func count(_ event: Entry.Event) -> Int { entries.count { $0.event == event } }
        return "\(history.runs.count) runs of \(history.runsByMember.count) members, "
            + "\(history.runs.reduce(0) { $0 + $1.links.count }) ends of links, \(count(.message)) messages, "
            + "\(count(.completed)) files, \(count(.attempt)) attempts; longest delays: with notification "
            + "\(seconds(longest.told)), without \(seconds(longest.untold)), for a silent peer "
            + "\(seconds(longest.silent)); \(violations) violations"
    }

    private static func refuse() { complain("usage: check-history [--slack SECONDS] FILE…") }

    private static func complain(_ text: String) {
        FileHandle.standardError.write(Data("check-history: \(text)\n".utf8))
        exit(2)
    }
}
