public import MultipeerCore
public import MultipeerTransport

/// Creates a session, runs `body` with it, and disconnects it before returning, whether `body` returns or throws.
///
/// ```swift
/// try await withSession(peer: PeerID(displayName: "ann")) { session in
///     try await session.connect(with: ConnectionData(theirs))
///     try await session.send("hello", to: bob)
/// }
/// ```
///
/// The links end gracefully, as with `disconnect`: for at most one second they still send what was accepted. When the task is
/// cancelled, the calls of `body` that wait throw, and the session is disconnected in the same way.
///
/// - Parameters:
///   - peer: The local peer.
///   - configuration: The configuration of the session.
///   - body: What to do with the session. Do not use the session after it.
/// - Returns: The result of `body`.
/// - Throws: What `Session.init` throws, and what `body` throws.
public func withSession<Result>(
    peer: PeerID, configuration: Session.Configuration = Session.Configuration(),
    _ body: (Session) async throws -> Result
) async throws -> Result {
    let session = try Session(peer: peer, configuration: configuration)
    return try await ending {
        try await body(session)
    } with: {
        await session.disconnect()
    }
}

/// Runs `body`, and then `end`, whether `body` returned or threw; returns the result of `body`.
private func ending<Result>(
    _ body: () async throws -> Result, with end: () async -> Void
) async throws -> Result {
    do {
        let result = try await body()
        await end()
        return result
    } catch {
        await end()
        throw error
    }
}

extension Browser {
    /// Starts the browser, runs `body` with its events, and stops it before returning, whether `body` returns or throws.
    ///
    /// ```swift
    /// let bob = try await browser.run { events in
    ///     for await event in events { if case .found(let peer) = event { return peer } }
    ///     throw CancellationError()
    /// }
    /// ```
    ///
    /// Throws what `start` throws, and what `body` throws. A browser that was already running is stopped as well.
    ///
    /// - Parameter body: What to do while the browser runs.
    /// - Returns: The result of `body`.
    /// - Throws: What `start` throws, and what `body` throws.
    public nonisolated func run<Result>(_ body: (Browser.Events) async throws -> Result) async throws
        -> Result
    {
        let iteration = events
        try await start()
        return try await ending {
            try await body(iteration)
        } with: {
            await stop()
        }
    }
}

extension Advertiser {
    /// Starts the advertiser, runs `body` with the invitations to it, and stops it before returning, whether `body` returns or
    /// throws. Invitations that were accepted go on.
    ///
    /// ```swift
    /// try await advertiser.run { invitations in
    ///     for await invitation in invitations { try await invitation.accept(into: session) }
    /// }
    /// ```
    ///
    /// An advertiser that was already running is stopped as well.
    ///
    /// - Parameter body: What to do while the advertiser runs.
    /// - Returns: The result of `body`.
    /// - Throws: What `start` throws, and what `body` throws.
    public nonisolated func run<Result>(_ body: (Invitations) async throws -> Result) async throws -> Result {
        let iteration = invitations
        try await start()
        return try await ending {
            try await body(iteration)
        } with: {
            await stop()
        }
    }

    /// Advertises the peer and answers each invitation with the result of `decide`, until the task is cancelled or the advertiser
    /// is stopped.
    ///
    /// ```swift
    /// try await advertiser.run(into: session) { invitation in
    ///     await user.allows(invitation.inviter)
    /// }
    /// ```
    ///
    /// Each invitation has a child task of its own: while `decide` asks the user about one peer, others are answered. `true` accepts
    /// the invitation into `session`, `false` declines it. A `decide` that waits for a user returns once `invitation.waitUntilEnded()` does,
    /// which includes a stop of the advertiser: this method returns after all child tasks have ended.
    ///
    /// - Parameters:
    ///   - session: The session into which invitations are accepted, of the same peer.
    ///   - decide: Returns whether to accept the invitation. It may also answer the invitation itself; its result is not used then.
    ///   - onFailure: Receives what `accept` or `decline` threw: the inviter gave up, the session is full, no link was made.
    /// - Throws: `invalidArgument` when the session is not of this peer, and what `start` throws.
    public nonisolated func run(
        into session: Session,
        accepting decide: @escaping @Sendable (Invitation) async -> Bool,
        onFailure: @escaping @Sendable (Invitation, MultipeerError) async -> Void = { _, _ in }
    ) async throws(MultipeerError) {
        guard session.peer == peer else {
            throw MultipeerError(
                .invalidArgument, "\(peer) is advertised, and the session is of \(session.peer)")
        }
        let iteration = invitations
        try await start()
        await withDiscardingTaskGroup { group in
            for await invitation in iteration {
                group.addTask {
                    let isAccepted = await decide(invitation)
                    do throws(MultipeerError) {
                        if isAccepted {
                            try await invitation.accept(into: session)
                        } else {
                            try await invitation.decline()
                        }
                    } catch {
                        if error.code != .alreadyAnswered { await onFailure(invitation, error) }
                    }
                }
            }
            await stop()
        }
    }
}
