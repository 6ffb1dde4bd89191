extension Session {
    /// The reader of a session's owner: a `NotifiedReader` of its events.
    ///
    /// It stands here and not a layer above because generics are specialised within a module only.
    package final class EventReader: Sendable {
        package typealias Run = EventQueue<Session.Event>.Batch

        private let base: EventQueue<Session.Event>.NotifiedReader

        package init(
            _ eventQueue: EventQueue<Session.Event>, notify: @escaping @Sendable () -> Void
        ) {
            base = EventQueue<Session.Event>.NotifiedReader(eventQueue, notify: notify)
        }

        /// Returns the next events, with the markers between them; those before count as consumed.
        package func next() -> EventQueue<Session.Event>.NotifiedReader.Taken { base.next() }
    }
}
