import Foundation
import Multipeer
import MultipeerCommandLine

/// Whether the port of multicast DNS can be shared with whoever has it.
package struct PortCheck: Sendable {
    package static let port: UInt16 = 5_353
    private static let topic = "port 5353"

    /// Those who have it; nil for a process that this user may not look at.
    package let holders: [ProcFileSystem.Process?]
    /// Why this process does not get it as well.
    package let refusal: Int32?
    /// Whether it would as the same user, with a stack that shares it in the other way.
    package let isSharedOtherwise: Bool

    package init(holders: [ProcFileSystem.Process?], refusal: Int32?, isSharedOtherwise: Bool = false) {
        self.holders = holders
        self.refusal = refusal
        self.isSharedOtherwise = isSharedOtherwise
    }

    /// Binds for a moment. Joins no group, and sends nothing.
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
                PortCheck.topic, "the system does not give it: \(DescriptorStream.reason(refusal))",
                hint: "without it nothing can be announced; connection data can be swapped by hand")
        }
        let isAvahi = holders.contains { $0?.name == "avahi-daemon" }
        return .problem(
            PortCheck.topic, "taken by \(holders.isEmpty ? "somebody" : who), who does not share it",
            hint: isAvahi
                ? "set disallow-other-stacks=no in /etc/avahi/avahi-daemon.conf, and start avahi-daemon again"
                : "end that program, or make it bind with SO_REUSEADDR")
    }

    private static func list(_ holders: [ProcFileSystem.Process?]) -> String {
        holders.map { $0.map { "\($0.name) (process \($0.id))" } ?? "a process of another user" }
            .joined(separator: ", ")
    }
}
