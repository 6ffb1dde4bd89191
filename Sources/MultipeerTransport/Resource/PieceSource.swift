/// The source of a resource: a file, or a document that is fetched.
package protocol PieceSource: Sendable {
    /// The total number of bytes, when it is known.
    var size: UInt64? { get }

    /// Where the bytes come from, for people; nil when that is no more than the caller knows.
    var address: String? { get }

    /// All bytes, when they are known already: then `next` is not called.
    var whole: WholeContents? { get }

    /// Returns the next bytes, never empty; nil after the last. Called on a thread of the file pool, by one task at a time.
    func next() async throws(ResourceFault) -> [UInt8]?

    /// Ends reading; a call that waits throws. From any thread.
    func cancel()
}

extension PieceSource {
    package var address: String? { nil }
    package var whole: WholeContents? { nil }
}
