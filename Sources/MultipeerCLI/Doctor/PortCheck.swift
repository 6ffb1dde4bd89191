import MultipeerCommandLine
import MultipeerEssentials

/// Whether the multicast DNS port can be shared with the processes that use it.
package struct PortCheck: Sendable {
    package static let port: UInt16 = 5_353
    private static let topic = "port 5353"

    /// The processes that use it; nil for one that this user may not inspect.
    package let holders: [ProcFileSystem.Process?]
    /// Why this process cannot bind it as well.
    package let refusal: Int32?
    /// Whether it could bind with `SO_REUSEPORT` too, for a program of the same user that shares the port that way.
    package let isSharedOtherwise: Bool

    package init(holders: [ProcFileSystem.Process?], refusal: Int32?, isSharedOtherwise: Bool = false) {
        self.holders = holders
        self.refusal = refusal
        self.isSharedOtherwise = isSharedOtherwise
    }

    /// Binds the port for a moment. Joins no group, and sends nothing.
    static func look(_ proc: ProcFileSystem = ProcFileSystem()) -> PortCheck {
        let sockets = proc.sockets(on: port)
        let owners = proc.owners(of: Set(sockets.map(\.inode)))
        var holders: [ProcFileSystem.Process?] = []
        for socket in sockets {
            for owner in owners[socket.inode].map({ $0.map(Optional.some) }) ?? [nil]
            where !holders.contains(owner) { holders.append(owner) }
        }
        let refusal = MulticastTestSocket.refusal(sharing: [SO_REUSEADDR])
        let isSharedOtherwise =
            refusal != nil && MulticastTestSocket.refusal(sharing: [SO_REUSEADDR, SO_REUSEPORT]) == nil
        return PortCheck(holders: holders, refusal: refusal, isSharedOtherwise: isSharedOtherwise)
    }

    package var finding: Finding {
        let who = PortCheck.list(holders)
        guard let refusal, !isSharedOtherwise else {
            return .ok(PortCheck.topic, holders.isEmpty ? "free" : "shared with \(who)")
        }
        guard refusal == EADDRINUSE else {
            return .problem(
                PortCheck.topic, "cannot bind: \(DescriptorStream.reason(refusal))",
                hint: "without it nothing can be advertised or found; \(MulticastCheck.wayOut)")
        }
        let isAvahi = holders.contains { $0?.name == "avahi-daemon" }
        return .problem(
            PortCheck.topic,
            "in use by \(holders.isEmpty ? "an unknown process" : who), which does not share it",
            hint: isAvahi
                ? "set disallow-other-stacks=no in /etc/avahi/avahi-daemon.conf, and restart avahi-daemon"
                : "stop that program, or make it bind with SO_REUSEADDR")
    }

    private static func list(_ holders: [ProcFileSystem.Process?]) -> String {
        holders.map { $0.map { "\($0.name) (process \($0.id))" } ?? "a process of another user" }
            .joined(separator: ", ")
    }
}
