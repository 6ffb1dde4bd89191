#if os(Linux) || os(Android)
    import CPlatform
    import MultipeerPlatform

    /// Wakes the thread of a loop: an eventfd, watched for edges, so that waking is one write and it need not be read.
    package struct EventWaker: ThreadWaker {
        package let descriptor: Int32

        package init() throws(SocketFault) {
            descriptor = Descriptors.admitted(multipeer_linux_open_waker())
            guard descriptor >= 0 else { throw .last }
        }

        package func wake() {
            var one: UInt64 = 1
            _ = unsafe write(descriptor, &one, MemoryLayout<UInt64>.size)
        }

        package func close() { _ = MultipeerPlatform.close(descriptor) }
    }
#endif
