/// How much of channels a session may hold unread, over all its links. Spec 15. [limit.memory]
package struct ReceiveMemory: Sendable {
    package static let limit = 20 * 1_048_576

    private let limit: Int

    package init(limit: Int = ReceiveMemory.limit) { self.limit = limit }

    /// Which link must give up its fullest channel, given what each one holds: `stopFullest(.busy)`, and ask again.
    package func excess<ID>(_ held: some Sequence<(id: ID, bytes: Int)>) -> ID? {
        var total = 0
        var fullest: (id: ID, bytes: Int)?
        for link in held {
            total += link.bytes
            if link.bytes > fullest?.bytes ?? 0 { fullest = link }
        }
        return total > limit ? fullest?.id : nil  // [limit.memory]
    }
}
