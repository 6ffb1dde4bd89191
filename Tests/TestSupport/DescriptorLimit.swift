import Glibc

/// Limits the descriptors of this process, which is one of the test's own.
package enum DescriptorLimit {
    /// Sets the limit so that this many descriptors are free, with the highest numbers. Those with lower numbers are used up before.
    package static func leave(_ count: Int) {
        set(4_096)
        var next = lowestFree()
        let highest = (0..<4_096).last { fcntl($0, F_GETFD) >= 0 } ?? 0
        while next < highest {
            _ = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
            next = lowestFree()
        }
        set(Int(next) + count)
    }

    /// The number of descriptors that can be opened.
    package static var free: Int {
        var opened: [Int32] = []
        while case let next = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC), next >= 0 {
            opened.append(next)
        }
        for one in opened { close(one) }
        return opened.count
    }

    private static func lowestFree() -> Int32 {
        let next = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
        close(next)
        return next
    }

    private static func set(_ count: Int) {
        var limit = rlimit()
        unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = min(rlim_t(count), limit.rlim_max)
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}
