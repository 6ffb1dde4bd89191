/// The limit on the unread channel bytes that a session holds, over all its links. Spec 15. [limit.memory]
///
/// Inlinable, because it is asked in each turn: as generic code of another module it would take 2 to 4 µs a file.
@usableFromInline
package struct ReceiveMemory: Sendable {
    package static let limit = 20 * 1_048_576

    @usableFromInline let limit: Int
    package init(limit: Int = ReceiveMemory.limit) { self.limit = limit }

    /// Returns the bytes by which windows of channels may still grow, given by how many those of each link have. In total it is
    /// two fifths, so that most of the memory stays for channels whose windows never grew.
    @inlinable
    package func spare(beyond extraCredits: some Sequence<Int>) -> Int {
        max(0, limit / 5 * 2 - extraCredits.reduce(0, +))
    }

    /// Returns the link that must drop its fullest channel, given what each one holds. The caller then calls
    /// `stopFullest(.busy)` and repeats.
    @inlinable
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
