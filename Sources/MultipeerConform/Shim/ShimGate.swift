import Multipeer

/// A gate at which tasks wait until it is open.
@ShimActor
final class ShimGate {
    /// The waiting tasks; nil while the gate is open.
    private var waiting: [Promise<Void>]?

    func close() { waiting = waiting ?? [] }

    func open() {
        for signal in waiting.take() ?? [] { signal.send(()) }
    }

    /// Waits until the gate is open.
    func passed() async {
        guard waiting != nil else { return }
        let signal = Promise<Void>()
        waiting?.append(signal)
        await signal.value()
    }
}
