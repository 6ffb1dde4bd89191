import MultipeerTransport

extension SimulatedNetwork {
    /// Calls `body` on the main actor as a part of the run, and returns its result.
    ///
    /// The main actor has a thread of its own, which takes no part in a run: a task of the network that hops there
    /// makes the run fail. In this call the network's thread waits instead, so nothing else happens and no time passes,
    /// and what `body` sets in motion runs on the network afterwards. Use it for models of views, which belong to the
    /// main actor:
    ///
    /// ```swift
    /// let room = try await network.onMainActor {
    ///     try RoomModel(peer: ann.peer, service: "chat", session: ann.session(), discovery: ann.discovery())
    /// }
    /// ann.task { await room.run() }
    /// try await network.clock.sleep(for: .seconds(5))
    /// await network.onMainActor { room.send("hello") }
    /// ```
    ///
    /// `body` is not asynchronous, and must not begin a task with `Task { }`, which would run outside of the network.
    /// Outside of a run this is an ordinary call on the main actor.
    ///
    /// - Parameter body: What to do on the main actor.
    /// - Returns: The result of `body`.
    /// - Throws: What `body` throws.
    public nonisolated func onMainActor<Value: Sendable, Failure: Error>(
        _ body: @escaping @MainActor @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        try await MainActor.following(body)
    }
}
