import Foundation
import Multipeer
import MultipeerCommandLine

/// Whether rules could drop what peers send. They are read, if that is allowed, and judged by what they look like.
package struct FirewallCheck: Sendable {
    package enum Rules: Equatable, Sendable {
        /// What `nft list ruleset` says.
        case text(String)
        /// Only root may read them.
        case forbidden
        /// There is no program that could list them.
        case unlisted
    }

    private static let topic = "firewall"
    package let rules: Rules
    /// Tables of the old packet filter that are in use.
    package let oldTables: [String]
    /// Programs that make rules.
    package let services: [String]

    package init(rules: Rules, oldTables: [String] = [], services: [String] = []) {
        self.rules = rules
        self.oldTables = oldTables
        self.services = services
    }

    static func look(_ proc: ProcFileSystem = ProcFileSystem()) -> FirewallCheck {
        let tables = ["net/ip_tables_names", "net/ip6_tables_names"].flatMap {
            (proc.text($0) ?? "").split(separator: "\n").map(String.init)
        }
        let makers = ["firewalld", "ufw", "opensnitchd"]
        let running = proc.processes.map(\.name).filter(makers.contains)
        return FirewallCheck(
            rules: list(), oldTables: Array(Set(tables)).sorted(), services: Array(Set(running)).sorted())
    }

    private static func list() -> Rules {
        let folders = ["/usr/sbin", "/sbin", "/usr/bin", "/usr/local/sbin"]
        guard let program = folders.map({ "\($0)/nft" }).first(where: FileManager.default.isExecutableFile)
        else { return geteuid() == 0 ? .unlisted : .forbidden }
        guard geteuid() == 0,
            let child = try? ChildProcess(program, ["list", "ruleset"], catchingErrors: true)
        else { return .forbidden }
        child.input.close()
        let bytes = try? child.output.readAll(limit: 16 << 20)
        if bytes == nil { child.signal(SIGKILL) }
        let code = child.wait()
        child.output.close()
        child.error?.close()
        guard code == 0, let bytes else { return .forbidden }
        return .text(String(decoding: bytes, as: UTF8.self))
    }

    package var finding: Finding {
        let makers = services.isEmpty ? "" : ", made by \(services.joined(separator: " and "))"
        if case .text(let text) = rules, let suspicion = FirewallCheck.suspicion(text) {
            let mentions = text.contains("5353") || text.contains("mdns")
            return .note(
                FirewallCheck.topic,
                suspicion + makers
                    + (mentions ? "; a rule names multicast DNS" : "; no rule names multicast DNS"),
                hint: FirewallCheck.advice)
        }
        if oldTables.contains("filter") {
            return .note(
                FirewallCheck.topic, "iptables has rules" + makers,
                hint: "'iptables -S INPUT' shows them: "
                    + FirewallCheck.advice)
        }
        switch rules {
        case .text: return .ok(FirewallCheck.topic, "no rule drops what comes in")
        case .unlisted where services.isEmpty:
            return .ok(FirewallCheck.topic, "no tables of iptables, and no nft to ask for others")
        case .unlisted, .forbidden:
            return .note(
                FirewallCheck.topic, "only root can read the rules" + makers,
                hint: "run this as root once, or: "
                    + FirewallCheck.advice)
        }
    }

    private static let advice =
        "peers need UDP port 5353, and the TCP and UDP ports on which sessions listen (--listen chooses one)"

    /// What in the rules could drop something that comes in; nil when nothing looks like it.
    static func suspicion(_ text: String) -> String? {
        var isInput = false
        var drops = 0
        for line in text.split(separator: "\n").map({ $0.trimmingCharacters(in: .whitespaces) }) {
            if line.hasPrefix("chain ") { isInput = false }
            if line.contains("hook input") {
                isInput = true
                if line.contains("policy drop") { return "what comes in is dropped unless a rule accepts it" }
            }
            let words = line.split(separator: " ")
            if isInput, words.contains("drop") || words.contains("reject") { drops += 1 }
        }
        guard drops > 0 else { return nil }
        return drops == 1 ? "a rule drops some of what comes in" : "\(drops) rules drop some of what comes in"
    }
}
