import MultipeerConnectivity

/// Everything that an application observed, in order, for a program that waits for some of it and checks the rest.
///
/// Unchecked: the lock is what is safe here.
final class EventRecord: @unchecked Sendable {
    /// Whose delegate received an event.
    enum Origin: String {
        case session, advertiser, browser, stream, program
    }

    private struct Event {
        let origin: Origin
        let text: String
        /// Whether a wait has returned for it.
        var isTaken = false
    }

    private struct Waiter {
        let text: String
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var events: [Event] = []
        var waiters: [Int: Waiter] = [:]
        var lastWaiter = 0
        var failure: Failure?
    }

    private let lock = NSLock()
    private var state = State()

    /// Adds an event, and prints it.
    func note(_ origin: Origin, _ text: String) {
        EventRecord.write("\(origin): \(text)")
        let due = lock.withLock { () -> Waiter? in
            var event = Event(origin: origin, text: text)
            // The first that waits for it.
            let number = state.waiters.filter { $0.value.text == text }.keys.min()
            event.isTaken = number != nil
            state.events.append(event)
            return number.flatMap { state.waiters.removeValue(forKey: $0) }
        }
        due?.continuation.resume()
    }

    /// Waits until there is an event with this text that no earlier wait has returned for.
    func wait(for text: String, within timeout: TimeInterval) async throws {
        try await withCheckedThrowingContinuation { continuation in
            let waiter = Waiter(text: text, continuation: continuation)
            guard let number = add(waiter) else { return }
            DispatchQueue.global().asyncAfter(deadline: .now() + timeout) { [weak self] in
                let late = self?.lock.withLock { self?.state.waiters.removeValue(forKey: number) }
                late?.continuation.resume(throwing: Failure("timed out waiting for: \(text)"))
            }
        }
    }

    /// Returns the number of a waiter; nil when it need not wait.
    private func add(_ waiter: Waiter) -> Int? {
        let (number, failure) = lock.withLock { () -> (Int?, Failure?) in
            if let place = state.events.firstIndex(where: { !$0.isTaken && $0.text == waiter.text }) {
                state.events[place].isTaken = true
                return (nil, nil)
            }
            if let failure = state.failure { return (nil, failure) }
            state.lastWaiter += 1
            state.waiters[state.lastWaiter] = waiter
            return (state.lastWaiter, nil)
        }
        if number == nil {
            if let failure {
                waiter.continuation.resume(throwing: failure)
            } else {
                waiter.continuation.resume()
            }
        }
        return number
    }

    /// Ends all waits, now and later, with an error.
    func fail(_ failure: Failure) {
        let waiters = lock.withLock {
            state.failure = failure
            defer { state.waiters = [:] }
            return state.waiters.values
        }
        for waiter in waiters { waiter.continuation.resume(throwing: failure) }
    }

    /// Returns the texts of the events of one origin so far.
    func texts(of origin: Origin) -> [String] {
        lock.withLock { state.events.filter { $0.origin == origin }.map(\.text) }
    }

    /// Prints a line with the time, in seconds, of the clock that all processes share.
    static func write(_ line: String) {
        let time = Date().timeIntervalSinceReferenceDate.truncatingRemainder(dividingBy: 1_000)
        FileHandle.standardError.write(Data((String(format: "%7.3f ", time) + line + "\n").utf8))
    }
}

/// Why a program did not end as it must.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// A value that is read and changed on several threads, one access at a time.
///
/// Unchecked: the lock is what is safe here.
@propertyWrapper
final class Guarded<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    init(wrappedValue: Value) { value = wrappedValue }

    var wrappedValue: Value {
        get { lock.withLock { value } }
        set {
            // The former value may end its life here, and not while the lock is held.
            let former = lock.withLock {
                defer { value = newValue }
                return value
            }
            withExtendedLifetime(former) {}
        }
    }

    var projectedValue: Guarded { self }

    /// Changes the value in one step.
    func change(_ body: (inout Value) -> Void) { lock.withLock { body(&value) } }
}
