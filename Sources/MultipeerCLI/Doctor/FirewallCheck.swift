import MultipeerCommandLine
import MultipeerEssentials

/// Whether firewall rules could drop packets of peers. The rules are read, if permitted, and judged by simple patterns.
package struct FirewallCheck: Sendable {
    package enum Rules: Equatable, Sendable {
        /// The output of `nft list ruleset`.
        case text(String)
        /// Only root may read them.
        case forbidden
        /// No program to list the rules is installed.
        case unlisted
    }

    private static let topic = "firewall"
    package let rules: Rules
    /// Tables of iptables that are in use.
    package let oldTables: [String]
    /// Running programs that create rules.
    package let services: [String]

    package init(rules: Rules, oldTables: [String] = [], services: [String] = []) {
        self.rules = rules
        self.oldTables = oldTables
        self.services = services
    }

    static func look(_ proc: ProcFileSystem = ProcFileSystem()) -> FirewallCheck {
        let tables = ["net/ip_tables_names", "net/ip6_tables_names"].flatMap {
            (proc.text($0) ?? "").pieces(at: "\n").map(String.init)
        }
        let makers = ["firewalld", "ufw", "opensnitchd"]
        let running = proc.processes.map(\.name).filter(makers.contains)
        return FirewallCheck(
            rules: list(), oldTables: Array(Set(tables)).sorted(), services: Array(Set(running)).sorted())
    }

    private static func list() -> Rules {
        let folders = ["/usr/sbin", "/sbin", "/usr/bin", "/usr/local/sbin"]
        guard let program = folders.map({ "\($0)/nft" }).first(where: FileSystem.isExecutable)
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
        let makers = services.isEmpty ? "" : ", created by \(services.joined(separator: " and "))"
        if case .text(let text) = rules, let suspicion = FirewallCheck.suspicion(text) {
            let mentions = text.hasPart("5353") || text.hasPart("mdns")
            return .note(
                FirewallCheck.topic,
                suspicion + makers
                    + (mentions ? "; a rule names multicast DNS" : "; no rule names multicast DNS"),
                hint: FirewallCheck.advice)
        }
        if oldTables.contains("filter") {
            return .note(
                FirewallCheck.topic, "iptables has rules" + makers,
                hint: "run 'iptables -S INPUT' to see them; "
                    + FirewallCheck.advice)
        }
        switch rules {
        case .text: return .ok(FirewallCheck.topic, "no rule drops packets to or from this machine")
        case .unlisted where services.isEmpty:
            return .ok(FirewallCheck.topic, "no iptables tables, and nft is not installed")
        case .unlisted, .forbidden:
            return .note(
                FirewallCheck.topic, "only root can read the rules" + makers,
                hint: "run this as root once; "
                    + FirewallCheck.advice)
        }
    }

    private static let advice =
        "peers need UDP port 5353, and TCP and UDP port \(PortOption.standard) or that of --port"

    /// Returns what in the rules could drop packets to or from this machine; nil when nothing could.
    static func suspicion(_ text: String) -> String? {
        var direction: String?
        var drops: [String: Int] = [:]
        var closed: Set<String> = []
        for line in text.pieces(at: "\n").map({ $0.withoutSpacesAround }) {
            if line.begins(with: "chain ") { direction = nil }
            for (hook, words) in [("hook input", "incoming"), ("hook output", "outgoing")]
            where line.hasPart(hook) {
                direction = words
                if line.hasPart("policy drop") { closed.insert(words) }
            }
            let words = line.pieces(at: " ")
            if let direction, words.contains("drop") || words.contains("reject") {
                drops[direction, default: 0] += 1
            }
        }
        let findings = ["incoming", "outgoing"].compactMap { direction -> String? in
            if closed.contains(direction) {
                return "\(direction) packets are dropped unless a rule accepts them"
            }
            return drops[direction].map {
                "\($0 == 1 ? "1 rule drops" : "\($0) rules drop") \(direction) packets"
            }
        }
        return findings.isEmpty ? nil : findings.joined(separator: ", and ")
    }
}
