import CPlatform
import MultipeerPlatform

/// Wakes the thread of a loop: a pipe, which has something to read from the first wake on until it is drained.
package struct PipeWaker: ThreadWaker {
    package let descriptor: Int32
    private let writing: Int32

    package init() throws(SocketFault) {
        var ends: [Int32] = [-1, -1]
        guard unsafe multipeer_portable_pipe(&ends) == 0, let ends = Descriptors.both(ends[0], ends[1]) else {
            throw .last
        }
        (descriptor, writing) = ends
    }

    package func wake() {
        var one: UInt8 = 1
        // A full pipe wakes the loop, too.
        _ = unsafe write(writing, &one, 1)
    }

    /// Takes everything that is there. A wake from here on is seen by the next wait.
    package func drain() {
        var bytes: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        let room = MemoryLayout.size(ofValue: bytes)
        while unsafe read(descriptor, &bytes, room) == room {}
    }

    package func close() {
        _ = MultipeerPlatform.close(descriptor)
        _ = MultipeerPlatform.close(writing)
    }
}
