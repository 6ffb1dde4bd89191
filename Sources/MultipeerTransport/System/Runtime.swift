// Which of the two runtimes is compiled. This file alone chooses: the folder `Linux` has what only Linux has, and `Portable` what
// every system with POSIX has, for other systems and, with the trait `PortableRuntime`, for tests on Linux. The protocols next to
// this file say what each has to do.

#if (os(Linux) || os(Android)) && !PortableRuntime
    typealias Poller = EpollPoller
    typealias LoopWaker = EventWaker
    package typealias InterfaceMonitor = NetlinkMonitor
    package typealias SystemCalls = LinuxCalls
#else
    typealias Poller = PollPoller
    typealias LoopWaker = PipeWaker
    package typealias InterfaceMonitor = AddressListMonitor
    package typealias SystemCalls = PortableCalls
#endif

// The options of the system's own sockets do not depend on the trait.
#if os(Linux) || os(Android)
    package typealias SocketOptions = LinuxSocketOptions
#else
    package typealias SocketOptions = PortableSocketOptions
#endif
