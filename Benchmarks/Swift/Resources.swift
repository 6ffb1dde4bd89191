import Glibc

/// The resources that the process has used so far.
enum Resources {
    /// User and system time of all threads.
    static var cpuSeconds: Double { time(CLOCK_PROCESS_CPUTIME_ID) }

    /// A moment that other processes of this machine read in the same way.
    static var moment: Double { time(CLOCK_MONOTONIC) }

    /// Does nothing for that many seconds, after one in which everything has settled; returns the milliseconds of processor time
    /// that a minute of it takes.
    static func idle(for seconds: Int) async throws -> Double {
        try await Task.sleep(for: .seconds(1))
        let before = cpuSeconds
        try await Task.sleep(for: .seconds(seconds))
        return (cpuSeconds - before) * 60e3 / Double(seconds)
    }

    private static func time(_ clock: clockid_t) -> Double {
        var time = timespec()
        guard unsafe clock_gettime(clock, &time) == 0 else { return .nan }
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// `VmHWM`, because `ru_maxrss` starts with what the parent had before exec.
    static var peakKiB: Int { memory("VmHWM:") }

    /// The memory that is resident now.
    static var residentKiB: Int { memory("VmRSS:") }

    private static func memory(_ key: String) -> Int {
        let file = unsafe open("/proc/self/status", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return 0 }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 8192)
        let count = unsafe read(file, &bytes, bytes.count)
        let lines = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(separator: "\n")
        guard let line = lines.first(where: { $0.hasPrefix(key) }) else { return 0 }
        return Int(line.filter(\.isNumber)) ?? 0
    }
}
