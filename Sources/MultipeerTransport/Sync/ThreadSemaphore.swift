import MultipeerPlatform

/// A semaphore that blocks a thread. For threads of the library's own alone: a task waits with `AsyncSemaphore`.
@safe
final class ThreadSemaphore: Sendable {
    // POSIX allows its calls from any thread, and it is freed once no thread has a reference.
    private nonisolated(unsafe) let pointer: UnsafeMutablePointer<sem_t>

    init() {
        unsafe pointer = .allocate(capacity: 1)
        unsafe sem_init(pointer, 0, 0)
    }

    deinit {
        unsafe sem_destroy(pointer)
        unsafe pointer.deallocate()
    }

    func signal() { unsafe sem_post(pointer) }

    /// Waits for a signal, also when a signal of the system interrupts the wait.
    func wait() { while unsafe sem_wait(pointer) != 0 {} }
}
