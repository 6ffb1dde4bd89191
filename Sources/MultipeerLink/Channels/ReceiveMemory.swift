/// The limit on the unread channel bytes that a session holds, over all its links. Spec 15. [limit.memory]
package struct ReceiveMemory: Sendable {
    package static let limit = 20 * 1_048_576

    private let limit: Int
    /// The bytes by which windows of channels may grow in total: two fifths, so that most of the memory stays for channels
    /// whose windows never grew.
    package var extraCredit: Int { limit / 5 * 2 }

    package init(limit: Int = ReceiveMemory.limit) { self.limit = limit }

    /// Returns the link that must drop its fullest channel, given what each one holds. The caller then calls
    /// `stopFullest(.busy)` and repeats.
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
