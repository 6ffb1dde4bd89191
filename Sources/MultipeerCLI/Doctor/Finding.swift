import MultipeerCommandLine

/// One check of `multipeer doctor`, and its result.
package struct Finding: Equatable, Sendable, Encodable {
    package enum Verdict: String, Sendable, Encodable {
        case ok
        /// Nothing is wrong, or it cannot be known from this machine; worth reading when peers do not find each other.
        case note
        /// Peers cannot find each other, or not all of them.
        case problem
    }

    package let verdict: Verdict
    /// What was checked, one or two words.
    package let topic: String
    package let text: String
    /// What the user can do.
    package let hint: String?

    package static func ok(_ topic: String, _ text: String) -> Finding {
        Finding(verdict: .ok, topic: topic, text: text.printable, hint: nil)
    }

    package static func note(_ topic: String, _ text: String, hint: String? = nil) -> Finding {
        Finding(verdict: .note, topic: topic, text: text.printable, hint: hint?.printable)
    }

    package static func problem(_ topic: String, _ text: String, hint: String? = nil) -> Finding {
        Finding(verdict: .problem, topic: topic, text: text.printable, hint: hint?.printable)
    }
}

/// All findings of one run, for people and for programs.
package struct Diagnosis: Sendable, Encodable {
    package let findings: [Finding]
    package let problems: Int

    package init(_ findings: [Finding]) {
        self.findings = findings
        problems = findings.count { $0.verdict == .problem }
    }

    /// A line for each finding, and one for its hint.
    package var text: String {
        let left = findings.map(\.topic.count).max() ?? 0
        let indent = String(repeating: " ", count: left + 11)
        return findings.map { finding in
            let head = finding.verdict.rawValue.padded(to: 7) + "  " + finding.topic.padded(to: left)
            return "\(head)  \(finding.text)\n" + (finding.hint.map { "\(indent)-> \($0)\n" } ?? "")
        }.joined()
    }
}
