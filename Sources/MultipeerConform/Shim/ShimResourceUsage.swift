import Foundation
import Multipeer
import MultipeerCommandLine

/// What this process uses of the machine.
struct ShimResourceUsage {
    let resident: Int
    /// Of the heap, what was asked for and not given back.
    let allocated: Int
    let descriptors: Int
    let threads: Int
    /// Of the processor, by this process and in the kernel for it.
    let seconds: Double

    init() {
        let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        let page = Int(sysconf(Int32(_SC_PAGESIZE)))
        resident = (pages.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * page
        allocated = Heap.allocated
        // Without the one with which the folder is read.
        descriptors = max(0, ShimResourceUsage.count("/proc/self/fd") - 1)
        threads = ShimResourceUsage.count("/proc/self/task")
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        seconds = Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Makes the threads and timers that a process makes when it first needs them, and keeps: they are no leak.
    static func begin() async {
        try? await Task.sleep(for: .milliseconds(1))
        for _ in 0..<8 {
            _ = try? EventLoop.next()
            _ = try? EventLoop.filePool.next()
        }
    }

    /// How many entries a folder has.
    static func count(_ folder: String) -> Int {
        (try? FileManager.default.contentsOfDirectory(atPath: folder))?.count ?? 0
    }

    /// Makes the system refuse more than so much: an answer to those who ask what happens then.
    static func limit(_ resource: __rlimit_resource_t, to value: Int) throws(ShimFault) {
        var limit = rlimit()
        guard unsafe getrlimit(resource, &limit) == 0 else { throw .invalid(DescriptorStream.reason(errno)) }
        limit.rlim_cur = min(rlim_t(value), limit.rlim_max)
        guard unsafe setrlimit(resource, &limit) == 0 else { throw .invalid(DescriptorStream.reason(errno)) }
    }
}
