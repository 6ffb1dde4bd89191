import MultipeerPlatform

/// A semaphore that blocks a thread. For threads of the library's own alone: a task waits with `AsyncSemaphore`.
///
/// It consists of a mutex and a condition, because Darwin has no `sem_t` without a name.
@safe
final class ThreadSemaphore: Sendable {
    @safe private struct State {
        var mutex = unsafe pthread_mutex_t()
        var condition = pthread_cond_t()
        var count = 0
    }

    // Any thread may call it, `count` is used with the mutex held, and it is freed once no thread has a reference.
    private nonisolated(unsafe) let state: UnsafeMutablePointer<State>

    init() {
        unsafe state = .allocate(capacity: 1)
        unsafe state.initialize(to: State())
        unsafe pthread_mutex_init(&state.pointee.mutex, nil)
        unsafe pthread_cond_init(&state.pointee.condition, nil)
    }

    deinit {
        unsafe pthread_cond_destroy(&state.pointee.condition)
        unsafe pthread_mutex_destroy(&state.pointee.mutex)
        unsafe state.deallocate()
    }

    func signal() {
        unsafe pthread_mutex_lock(&state.pointee.mutex)
        unsafe state.pointee.count += 1
        // With the mutex held: afterwards the waiting thread may have released the last reference.
        unsafe pthread_cond_signal(&state.pointee.condition)
        unsafe pthread_mutex_unlock(&state.pointee.mutex)
    }

    /// Waits for a signal.
    func wait() {
        unsafe pthread_mutex_lock(&state.pointee.mutex)
        while unsafe state.pointee.count == 0 {
            unsafe pthread_cond_wait(&state.pointee.condition, &state.pointee.mutex)
        }
        unsafe state.pointee.count -= 1
        unsafe pthread_mutex_unlock(&state.pointee.mutex)
    }
}
