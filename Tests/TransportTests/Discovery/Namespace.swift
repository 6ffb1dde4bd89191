import Glibc
import MultipeerTransport
import Testing

/// A loop whose thread is in a network namespace of its own: nothing that a test does there can be seen elsewhere.
enum Namespace {
    /// Only the administrator can have one without leaving the process.
    static let isAvailable = unsafe geteuid() == 0 && access("/usr/sbin/ip", X_OK) == 0

    /// Calls the body with a loop in a new namespace, where the loopback interface is up and IPv6 is off but where the
    /// commands turn it on. The commands are run there first.
    static func with(
        _ commands: String..., body: (EventLoop, Probe) async throws -> Void
    ) async throws {
        try await withLoop { loop in
            let probe = Probe(loop)
            try await probe.run { _ throws(Unavailable) in
                try enter()
                for command in ["sysctl -qw net.ipv6.conf.default.disable_ipv6=1", "ip link set lo up"]
                    + commands
                {
                    try run(command)
                }
            }
            try await body(loop, probe)
        }
    }

    struct Unavailable: Error {
        let what: String
    }

    /// In the namespace of the calling thread.
    static func run(_ command: String) throws(Unavailable) {
        guard unsafe system("PATH=$PATH:/usr/sbin:/sbin; \(command)") == 0 else {
            throw Unavailable(what: command)
        }
    }

    /// What the namespace of the calling thread has sent and received by an interface, in packets.
    static func packets(_ interface: String) -> (received: Int, sent: Int)? {
        guard let file = unsafe fopen("/proc/thread-self/net/dev", "r") else { return nil }
        defer { unsafe fclose(file) }
        var line = [CChar](repeating: 0, count: 512)
        while unsafe fgets(&line, Int32(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            let words = text.split { " :\n".contains($0) }
            if words.count > 10, words[0] == interface, let received = Int(words[2]),
                let sent = Int(words[10])
            {
                return (received, sent)
            }
        }
        return nil
    }

    /// `unshare(2)`, which Swift's importer does not see.
    private static func enter() throws(Unavailable) {
        typealias Unshare = @convention(c) (Int32) -> Int32
        let newNetwork: Int32 = 0x4000_0000
        guard let symbol = unsafe dlsym(nil, "unshare"),
            unsafe unsafeBitCast(symbol, to: Unshare.self)(newNetwork) == 0
        else { throw Unavailable(what: "unshare") }
    }
}

extension Trait where Self == ConditionTrait {
    /// Only where the test may make a network of its own.
    static var inNamespace: Self {
        .enabled(if: Namespace.isAvailable, "a network namespace needs root and the command 'ip'")
    }
}
