import Foundation
import Multipeer
import MultipeerCommandLine

/// The resources that this process uses.
struct ShimResourceUsage {
    let resident: Int
    /// Bytes of the heap that are allocated.
    let allocated: Int
    let descriptors: Int
    let threads: Int
    /// Processor time, in user mode and in the kernel.
    let seconds: Double

    init() {
        let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        let page = Int(sysconf(Int32(_SC_PAGESIZE)))
        resident = (pages.pieces(at: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * page
        allocated = Heap.allocated
        // Without the descriptor with which the folder is read.
        descriptors = max(0, ShimResourceUsage.count("/proc/self/fd") - 1)
        threads = ShimResourceUsage.count("/proc/self/task")
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        seconds = Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Creates the threads and timers that a process creates on first use and keeps, so that they do not count as leaks.
    static func begin() async {
        try? await Task.sleep(for: .milliseconds(1))
        for _ in 0..<8 {
            _ = try? EventLoop.next()
            _ = try? EventLoop.filePool.next()
        }
    }

    /// Returns the number of entries of a folder.
    static func count(_ folder: String) -> Int {
        (try? FileManager.default.contentsOfDirectory(atPath: folder))?.count ?? 0
    }

    /// Sets a limit of the system, so that a test can exceed it.
    static func limit(_ resource: __rlimit_resource_t, to value: Int) throws(ShimFault) {
        var limit = rlimit()
        guard unsafe getrlimit(resource, &limit) == 0 else { throw .invalid(DescriptorStream.reason(errno)) }
        limit.rlim_cur = min(rlim_t(value), limit.rlim_max)
        guard unsafe setrlimit(resource, &limit) == 0 else { throw .invalid(DescriptorStream.reason(errno)) }
    }
}
