public import Multipeer
import MultipeerFoundation
public import Observation

extension RoomModel {
    /// A file on its way to or from a member.
    ///
    /// ```
    ///   waiting ──it begins──▶ running ──▶ finished
    ///      └──────────────────────┴──────▶ failed
    /// ```
    @Observable
    @MainActor public final class Transfer: Identifiable {
        /// How far a transfer is.
        public enum State: Equatable, Sendable {
            /// A received file is offered: `receive` or `cancel` it. A sent one has not begun.
            case waiting
            /// Bytes are on their way.
            case running
            /// The file has arrived, complete and as promised.
            case finished
            /// The file has not arrived, for this reason.
            case failed(MultipeerError)
        }

        /// The other peer.
        public nonisolated let peer: PeerID
        /// The name of the file. That of a received one is the sender's: a label, never a path.
        public nonisolated let name: String
        /// Whether the file is received.
        public nonisolated let isIncoming: Bool
        /// How far the transfer is.
        public private(set) var state = State.waiting
        /// The number of bytes; nil while it is unknown.
        public private(set) var size: UInt64?
        /// The progress; nil before the transfer has begun.
        public private(set) var progress: TransferProgress?
        /// A received file that has arrived. The application owns it, and moves or removes it.
        public private(set) var file: IncomingResource.File?

        @ObservationIgnored private var offer: IncomingResource?
        /// Cancels the transfer while it runs.
        @ObservationIgnored private var stop: (@Sendable () -> Void)?

        init(to peer: PeerID, name: String) {
            (self.peer, self.name, isIncoming) = (peer, name, false)
        }

        init(of offer: IncomingResource) {
            (peer, name, isIncoming) = (offer.peer, offer.name, true)
            (size, self.offer) = (offer.size, offer)
        }

        var hasEnded: Bool {
            switch state {
            case .waiting, .running: false
            case .finished, .failed: true
            }
        }

        func isOffer(of peer: PeerID) -> Bool { offer != nil && self.peer == peer }

        /// Returns the offer, which is received from now on.
        func takeOffer() -> IncomingResource? {
            guard let taken = offer else { return nil }
            (offer, state) = (nil, .running)
            stop = { taken.cancel() }
            return taken
        }

        /// Ends the transfer, unless it has ended.
        func fail(_ error: MultipeerError) {
            if hasEnded { return }
            offer?.decline()
            (offer, stop) = (nil, nil)
            state = .failed(error)
        }

        /// Fails an offer that can no longer be received; one that is being received reports its end by itself.
        func withdraw(_ error: MultipeerError) { if offer != nil { fail(error) } }

        /// One that runs ends with what its task throws.
        func cancel() {
            if let stop { return stop() }
            fail(MultipeerError(.cancelled, "the file was cancelled"))
        }

        private func finish(with file: IncomingResource.File? = nil) {
            if hasEnded { return }
            (self.file, stop, state) = (file, nil, .finished)
        }

        /// Returns false when the transfer was cancelled before it could begin.
        private func begin(_ sending: OutgoingResource) -> Bool {
            if hasEnded { return false }
            (state, size) = (.running, sending.size)
            stop = { sending.cancel() }
            return true
        }
    }
}

// MARK: in the run

extension RoomModel.Transfer {
    /// Waits until the offer has ended, which fails the transfer unless it was received.
    nonisolated func watch(_ offer: IncomingResource) async {
        guard let error = await offer.waitUntilEnded() else { return }
        await MainActor.following { self.withdraw(error) }
    }

    nonisolated func receive(_ offer: IncomingResource, into directory: URL?) async {
        async let received = offer.received(into: directory)
        await show(offer.progress)
        switch await received {
        case .success(let file): await MainActor.following { self.finish(with: file) }
        case .failure(let error): await MainActor.following { self.fail(error) }
        }
    }

    nonisolated func send(_ url: URL, in session: Session) async {
        do throws(MultipeerError) {
            let sending = try await session.send(file: url, to: peer)
            let isWanted = await MainActor.following { self.begin(sending) }
            if isWanted { await show(sending.progress) }
            if !isWanted || Task.isCancelled { sending.cancel() }
            try await sending.waitUntilReceived()
            await MainActor.following { self.finish() }
        } catch {
            await MainActor.following { self.fail(error) }
        }
    }

    /// Shows the progress until the transfer or the task ends.
    private nonisolated func show(_ updates: TransferProgress.Updates) async {
        for await progress in updates { await MainActor.following { self.progress = progress } }
    }
}

extension IncomingResource {
    fileprivate func received(into directory: URL?) async -> Result<File, MultipeerError> {
        do throws(MultipeerError) { return .success(try await receive(into: directory)) } catch {
            return .failure(error)
        }
    }
}
