import Multipeer

/// One run of a room: it advertises, browses, takes what the session reports, and carries out the requests of the user,
/// all of it in the tasks of one group. It runs on no actor, and holds no reference to the model.
struct RoomDriver: Sendable {
    /// What the user wants to be done, in a task of its own.
    struct Request: Sendable {
        let perform: @Sendable (RoomDriver) async -> Void
    }

    let session: Session
    let browser: Browser
    private let advertiser: Advertiser
    private let requests: AsyncStream<Request>
    private let number: Int
    /// Changes the model on the main actor, unless it was released.
    let tell: @Sendable (@escaping @MainActor @Sendable (RoomModel) -> Void) async -> Void

    /// Creates the run with that number.
    init(
        _ number: Int, of room: RoomModel, _ advertiser: Advertiser, _ browser: Browser,
        _ requests: AsyncStream<Request>
    ) {
        (session, self.advertiser, self.browser) = (room.session, advertiser, browser)
        (self.number, self.requests) = (number, requests)
        tell = { [weak room] change in
            await MainActor.following { [weak room] in if let room { change(room) } }
        }
    }

    /// Returns when everything has ended: because the task was cancelled, the session was disconnected, or discovery
    /// could not start.
    func run() async {
        do {
            try await advertiser.run { invitations in
                try await browser.run { found in await serve(invitations, found) }
            }
        } catch {
            if let error = error as? MultipeerError { await tell { $0.note(error, about: nil) } }
        }
        // The iterator gets what is reported until the session has ended, also in a task that is cancelled.
        var rest = session.events.batches.makeAsyncIterator()
        await session.disconnect()
        while let batch = await rest.next() { await tell { $0.take(batch) } }
        await tell { [number] in $0.ended(number) }
    }

    private func serve(_ invitations: Advertiser.Invitations, _ found: Browser.Events) async {
        await withDiscardingTaskGroup { group in
            group.addTask { await takeEvents() }
            group.addTask { await take(found) }
            group.addTask { await take(invitations) }
            for await request in requests { group.addTask { await request.perform(self) } }
            group.cancelAll()
        }
    }

    /// The next batch is taken when the model has the one before: a busy main actor holds the peers back.
    private func takeEvents() async {
        for await batch in session.events.batches {
            let verifications = await verifications(in: batch)
            await tell { $0.take(batch, verifications) }
        }
        // Unless the run is over, the application has disconnected the session.
        await tell { [number] in $0.cancel(number) }
    }

    /// Returns how the peers are known that are connected with this batch.
    private func verifications(in batch: [Session.Event]) async -> [PeerID: PeerVerification] {
        var verifications: [PeerID: PeerVerification] = [:]
        for case .peer(let peer, .connected) in batch {
            verifications[peer] = await session.connectionInfo(for: peer)?.verification
        }
        return verifications
    }

    private func take(_ found: Browser.Events) async {
        for await event in found { await tell { $0.take(event) } }
        if Task.isCancelled { return }
        let error = MultipeerError(.discovery, "the search for peers has ended")
        await tell { $0.note(error, about: nil) }
    }

    private func take(_ invitations: Advertiser.Invitations) async {
        await withDiscardingTaskGroup { group in
            for await invitation in invitations {
                await tell { $0.take(invitation) }
                group.addTask {
                    await invitation.waitUntilEnded()
                    await tell { $0.remove(invitation) }
                }
            }
        }
    }
}
