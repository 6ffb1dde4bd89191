import MultipeerCommandLine
import MultipeerEssentials

/// Other multicast DNS programs on this machine.
package struct ResponderCheck: Sendable {
    private static let topic = "responders"
    private static let known = [
        "avahi-daemon", "systemd-resolve", "systemd-resolved", "mdnsd", "mDNSResponder",
    ]

    package let running: [ProcFileSystem.Process]
    /// The configuration of avahi; nil without one.
    package let avahi: String?

    package init(running: [ProcFileSystem.Process], avahi: String?) {
        self.running = running
        self.avahi = avahi
    }

    static func look(_ proc: ProcFileSystem = ProcFileSystem()) -> ResponderCheck {
        let bytes = try? AtomicFile.read("/etc/avahi/avahi-daemon.conf", limit: 1 << 20)
        return ResponderCheck(
            running: proc.processes.filter { known.contains($0.name) },
            avahi: bytes.map { String(decoding: $0, as: UTF8.self) })
    }

    package var finding: Finding {
        guard !running.isEmpty else {
            return .ok(ResponderCheck.topic, "neither avahi nor systemd-resolved is running")
        }
        let names = running.map { "\($0.name) (process \($0.id))" }.joined(separator: ", ")
        let isAvahiThere = running.contains { $0.name == "avahi-daemon" }
        if isAvahiThere, isAlone {
            return .problem(
                ResponderCheck.topic, "\(names); avahi is configured to disallow other stacks",
                hint:
                    "set disallow-other-stacks=no in /etc/avahi/avahi-daemon.conf, and restart avahi-daemon"
            )
        }
        return .ok(ResponderCheck.topic, "\(names); they share the port")
    }

    private var isAlone: Bool {
        (avahi ?? "").pieces(at: "\n").contains { line in
            let text = line.filter { !$0.isWhitespace }.lowercased()
            return text == "disallow-other-stacks=yes"
        }
    }
}
