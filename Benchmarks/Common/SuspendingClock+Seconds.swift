extension SuspendingClock {
    package func seconds(since start: Instant) -> Double {
        let (seconds, attoseconds) = (now - start).components
        return Double(seconds) + Double(attoseconds) / 1e18
    }
}
