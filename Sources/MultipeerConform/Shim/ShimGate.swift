import Multipeer

/// Where somebody waits who may not go on.
@ShimActor
final class ShimGate {
    /// Those who wait; nil while it is open.
    private var waiting: [Promise<Void>]?

    func close() { waiting = waiting ?? [] }

    func open() {
        for signal in waiting.take() ?? [] { signal.send(()) }
    }

    /// Returns when it is open.
    func passed() async {
        guard waiting != nil else { return }
        let signal = Promise<Void>()
        waiting?.append(signal)
        await signal.value()
    }
}
