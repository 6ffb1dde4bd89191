import Glibc

/// The resources that the process has used so far.
package enum Resources {
    /// User and system time of all threads.
    package static var cpuSeconds: Double { time(CLOCK_PROCESS_CPUTIME_ID) }

    /// A moment that other processes of this machine read in the same way.
    package static var moment: Double { time(CLOCK_MONOTONIC) }

    /// Does nothing for that many seconds, after six in which everything has settled: threads that had work end after five.
    /// Returns the milliseconds of processor time that a minute of it takes.
    package static func idle(for seconds: Int) async throws -> Double {
        try await Task.sleep(for: .seconds(6))
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
    package static var peakKiB: Int { memory("VmHWM:") }

    /// The memory that is resident now.
    package static var residentKiB: Int { memory("VmRSS:") }

    /// Of that, what the process has written: the rest are pages of files, which all processes share.
    static var ownKiB: Int { memory("Private_Dirty:", in: "/proc/self/smaps_rollup") }

    private static func memory(_ key: String, in path: String = "/proc/self/status") -> Int {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return 0 }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 8192)
        let count = unsafe read(file, &bytes, bytes.count)
        let lines = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(separator: "\n")
        guard let line = lines.first(where: { $0.hasPrefix(key) }) else { return 0 }
        return Int(line.filter(\.isNumber)) ?? 0
    }
}
