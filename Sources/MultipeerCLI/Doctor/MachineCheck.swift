import MultipeerCommandLine
import MultipeerEssentials

/// The clock, OpenSSL, limits of the system, and the kind of machine.
package struct MachineCheck: Sendable {
    /// Seconds since 1970.
    package let time: Double
    /// Seconds since boot, with and without the time in which the machine was suspended.
    package let uptime: Double
    package let awake: Double
    package let openSSL: String
    /// The maximum number of open descriptors of this process.
    package let descriptors: Int
    /// The maximum receive buffer of a socket in bytes; nil when unknown.
    package let buffer: Int?
    /// The kind of environment, if multicast is known to end there.
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
        let descriptors = sysconf(Int32(_SC_OPEN_MAX))
        return MachineCheck(
            time: seconds(CLOCK_REALTIME), uptime: seconds(SystemCalls.clock),
            awake: seconds(CLOCK_MONOTONIC),
            openSSL: OpenSSLVersion.text, descriptors: descriptors < 0 ? .max : descriptors,
            buffer: proc.number("sys/net/core/rmem_max"), confinement: confinement(proc))
    }

    private static func seconds(_ clock: clockid_t) -> Double {
        var time = timespec()
        _ = unsafe clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }

    private static func confinement(_ proc: ProcFileSystem) -> String? {
        if (proc.text("version") ?? "").lowercased().hasPart("microsoft") { return "WSL" }
        let marks = ["/.dockerenv", "/run/.containerenv"]
        return marks.contains(where: FileSystem.exists) ? "a container" : nil
    }

    package var findings: [Finding] { [clock, library, limit, room] + confined }

    /// Certificates have a validity period: with a clock that was never set, all are refused.
    private var clock: Finding {
        let topic = "clock"
        let earliest = 1_735_689_600.0
        let latest = 4_102_444_800.0
        guard (earliest..<latest).contains(time) else {
            return .problem(
                topic, "not set: it shows \(MachineCheck.date(time))",
                hint: "connection data and certificates expire; run 'timedatectl set-ntp true'")
        }
        let slept = uptime - awake
        let sleep = slept > 1 ? ", suspended for \(HumanReadable.clock(.seconds(slept)))" : ""
        return .ok(
            topic, "\(MachineCheck.date(time)), up for \(HumanReadable.clock(.seconds(uptime)))\(sleep)")
    }

    private static func date(_ seconds: Double) -> String { LocalTime.universal(Int(seconds)) }

    private var library: Finding { .ok("OpenSSL", openSSL) }

    private var limit: Finding {
        let topic = "descriptors"
        let needed = 256
        guard descriptors < needed else {
            return .ok(
                topic, "\(descriptors == .max ? "unlimited" : "\(descriptors)") for one process")
        }
        return .problem(
            topic, "\(descriptors) for one process; many links and files need more",
            hint: "run 'ulimit -n 1024'")
    }

    private var room: Finding {
        let topic = "buffers"
        guard let buffer else { return .note(topic, "the maximum socket buffer is unknown") }
        let text = "socket buffers of up to \(HumanReadable.bytes(buffer))"
        guard buffer < 1 << 20 else { return .ok(topic, text) }
        return .note(
            topic, text + ", enough for dozens of peers",
            hint: "for hundreds on one network, run 'sysctl net.core.rmem_max=1048576'")
    }

    private var confined: [Finding] {
        guard let confinement else { return [] }
        return [
            .note(
                "machine", "this is \(confinement), whose network may not extend beyond its host",
                hint:
                    "to find peers outside, use the host's network, as with 'docker run --network host'"
            )
        ]
    }
}
