public import MultipeerCore
public import MultipeerMesh
public import MultipeerTransport

extension Session {
    /// The events of one kind as an asynchronous sequence: see `messages`, `peerStates`, `incomingStreams` and `incomingResources`.
    ///
    /// It is a filter of `events`: each iterator is a consumer of its own, which receives every event from its creation on, and
    /// passes over those of other kinds. An incoming stream or file is declined when no consumer keeps it. Several iterators have
    /// the memory of the slowest: release one that you no longer use. Create all iterators before you connect, so that
    /// none misses the first events.
    public struct EventSequence<Element: Sendable>: AsyncSequence, Sendable {
        /// The sequence never fails.
        public typealias Failure = Never

        private let events: Session.Events
        private let select: @Sendable (Session.Event) -> Element?

        package init(
            _ events: Session.Events, _ select: @escaping @Sendable (Session.Event) -> Element?
        ) {
            self.events = events
            self.select = select
        }

        /// Returns an iterator that receives every event from now on. It ends as those of `Session.events` do.
        public func makeAsyncIterator() -> Iterator {
            let base = events.makeAsyncIterator()
            base.begin()
            return Iterator(base: base, select: select)
        }

        /// Returns the elements one by one.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate var base: Session.Events.Iterator
            fileprivate let select: @Sendable (Session.Event) -> Element?

            /// Returns the next element; nil after `disconnect`, once the session is released, or when the task is cancelled.
            public mutating func next() async -> Element? { await next(isolation: #isolation) }

            /// Returns the next element without leaving the caller's actor.
            public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
                while let event = await base.next(isolation: actor) {
                    if let element = select(event) { return element }
                }
                return nil
            }
        }
    }

    /// The messages of all peers, in order for each peer.
    public var messages: EventSequence<Message> {
        EventSequence(events) { if case .message(let message) = $0 { message } else { nil } }
    }

    /// The changes of the state of each peer.
    public var peerStates: EventSequence<(peer: PeerID, state: PeerState)> {
        EventSequence(events) { if case .peer(let peer, let state) = $0 { (peer, state) } else { nil } }
    }

    /// The streams that peers open.
    public var incomingStreams: EventSequence<IncomingStream> {
        EventSequence(events) { if case .stream(let stream) = $0 { stream } else { nil } }
    }

    /// The files that peers offer.
    public var incomingResources: EventSequence<IncomingResource> {
        EventSequence(events) { if case .resource(let resource) = $0 { resource } else { nil } }
    }
}
