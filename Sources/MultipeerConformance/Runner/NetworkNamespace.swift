import CPlatform
import Foundation
import MultipeerPlatform
import MultipeerTransport

/// A network namespace for one case: interfaces and addresses that the machine need not have, and from which no packet leaves
/// it.
package struct NetworkNamespace: Sendable {
    /// Commands of `ip`, which add to the loopback interface.
    let commands: [String]

    init(_ commands: [String]) { self.commands = commands }

    /// Pairs of Ethernet interfaces a1 and b1, a2 and b2, and so on, all up, with an address of their own only if `commands`
    /// add one.
    static func pairs(_ count: Int, _ commands: [String] = []) -> NetworkNamespace {
        let links = (1...count).flatMap { pair in
            ["link add a\(pair) type veth peer name b\(pair)"]
                + ["a", "b"].map { "link set \($0)\(pair) addrgenmode none up" }
        }
        return NetworkNamespace(links + commands)
    }

    /// Returns the result of `body`, run on a thread of its own in a new namespace, as are the processes that it starts; the
    /// argument says why there is none.
    func run<Result: Sendable>(_ body: @escaping @Sendable (String?) -> Result) -> Result {
        let result = Locked<Result?>(nil)
        let done = DispatchSemaphore(value: 0)
        let thread = Thread {
            let outcome = body(enter())
            result.withLock { $0 = outcome }
            done.signal()
        }
        thread.stackSize = 4 << 20
        thread.start()
        while true {
            done.wait()
            if let outcome = result.withLock({ $0 }) { return outcome }
        }
    }

    /// Whether this process may create one.
    package static var isPermitted: Bool {
        NetworkNamespace([]).run { $0 == nil }
    }

    /// Moves this thread into a new namespace; returns why that was not possible.
    private func enter() -> String? {
        guard multipeer_leave_network() == 0 else {
            return "no network namespace: \(SystemMessage.text(errno))"
        }
        let batch =
            "printf '%s\\n' \((["link set lo up"] + commands).map { "'\($0)'" }.joined(separator: " "))"
        let path = "/usr/sbin:/sbin:/usr/bin:/bin"
        let shell = Program(
            "/bin/sh", ["-c", "output=$(\(batch) | ip -batch - 2>&1)"], environment: ["PATH": path])
        do throws(Program.NotStarted) {
            let id = try shell.start(with: [])
            var status: Int32 = 0
            while unsafe waitpid(id, &status, 0) < 0, errno == EINTR {}
            return status == 0 ? nil : "'ip' cannot set up the interfaces of a network namespace"
        } catch {
            return "'ip' cannot be started"
        }
    }
}
