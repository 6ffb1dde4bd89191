import Foundation
import MultipeerConformance

/// `MultipeerAttacker ATTACK KEY=VALUE…`: a hostile peer of the conformance suite, against a command that runs elsewhere.
///
/// It prints one JSON object per line, and ends with its standard input. Exit code 3: it could not attack.
@main
enum MultipeerAttacker {
    static func main() {
        let words = CommandLine.arguments.dropFirst()
        guard let attack = Attack.all.first(where: { $0.name == words.first }) else {
            for attack in Attack.all { fail("\(attack.name) \(attack.summary)") }
            exit(2)
        }
        var parameters: [String: String] = [:]
        for word in words.dropFirst() {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { parameters[String(parts[0])] = String(parts[1]) }
        }
        do {
            try attack.run(parameters)
        } catch {
            fail("\(attack.name): \(error)")
            exit(3)
        }
    }

    private static func fail(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) }
}
