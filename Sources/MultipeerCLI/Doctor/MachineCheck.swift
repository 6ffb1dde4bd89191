import Foundation
import Multipeer
import MultipeerCommandLine

/// The clock, OpenSSL, what the system allows, and what kind of machine this is.
package struct MachineCheck: Sendable {
    /// Seconds since 1970.
    package let time: Double
    /// Seconds since the start, with those and without those in which the machine slept.
    package let uptime: Double
    package let awake: Double
    package let openSSL: String
    /// Descriptors that this process may have open.
    package let descriptors: Int
    /// Bytes that a socket may hold; nil when that is not known.
    package let buffer: Int?
    /// Where it runs, when multicast is known to end there.
    package let confinement: String?

    package init(
        time: Double, uptime: Double, awake: Double, openSSL: String, descriptors: Int, buffer: Int?,
        confinement: String?
    ) {
        self.time = time
        self.uptime = uptime
        self.awake = awake
        self.openSSL = openSSL
        self.descriptors = descriptors
        self.buffer = buffer
        self.confinement = confinement
    }

    static func look(_ proc: ProcFileSystem = ProcFileSystem()) -> MachineCheck {
        var limit = rlimit()
        let isKnown = unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0
        return MachineCheck(
            time: seconds(CLOCK_REALTIME), uptime: seconds(CLOCK_BOOTTIME), awake: seconds(CLOCK_MONOTONIC),
            openSSL: OpenSSLVersion.text, descriptors: isKnown ? Int(clamping: limit.rlim_cur) : .max,
            buffer: proc.number("sys/net/core/rmem_max"), confinement: confinement(proc))
    }

    private static func seconds(_ clock: clockid_t) -> Double {
        var time = timespec()
        _ = unsafe clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }

    private static func confinement(_ proc: ProcFileSystem) -> String? {
        if (proc.text("version") ?? "").lowercased().contains("microsoft") { return "WSL" }
        let marks = ["/.dockerenv", "/run/.containerenv"]
        return marks.contains(where: FileManager.default.fileExists) ? "a container" : nil
    }

    package var findings: [Finding] { [clock, library, limit, room] + confined }

    /// Certificates are valid for a time: a clock that was never set refuses all of them.
    private var clock: Finding {
        let topic = "clock"
        let earliest = 1_735_689_600.0
        let latest = 4_102_444_800.0
        guard (earliest..<latest).contains(time) else {
            return .problem(
                topic, "it is not set: it says \(MachineCheck.date(time))",
                hint: "connection data and certificates expire; 'timedatectl set-ntp true' sets it")
        }
        let slept = uptime - awake
        let sleep = slept > 1 ? ", of which the machine slept \(HumanReadable.clock(.seconds(slept)))" : ""
        return .ok(
            topic, "\(MachineCheck.date(time)), up for \(HumanReadable.clock(.seconds(uptime)))\(sleep)")
    }

    private static func date(_ seconds: Double) -> String {
        Date(timeIntervalSince1970: seconds).formatted(.iso8601)
    }

    private var library: Finding { .ok("OpenSSL", openSSL) }

    private var limit: Finding {
        let topic = "descriptors"
        let needed = 256
        guard descriptors < needed else {
            return .ok(
                topic, "\(descriptors == .max ? "as many as it wants" : "\(descriptors)") for one process")
        }
        return .problem(
            topic, "\(descriptors) for one process, of which many links and files need more",
            hint: "'ulimit -n 1024' allows more")
    }

    private var room: Finding {
        let topic = "buffers"
        guard let buffer else { return .note(topic, "nobody knows how much a socket may hold") }
        let text = "a socket holds up to \(HumanReadable.bytes(buffer))"
        guard buffer < 1 << 20 else { return .ok(topic, text) }
        return .note(
            topic, text + ", enough for some dozens of peers",
            hint: "for hundreds on one network: 'sysctl net.core.rmem_max=1048576'")
    }

    private var confined: [Finding] {
        guard let confinement else { return [] }
        return [
            .note(
                "machine", "this is \(confinement), whose network may end at the machine around it",
                hint:
                    "peers outside are found with the host's network alone, as with 'docker run --network host'"
            )
        ]
    }
}
