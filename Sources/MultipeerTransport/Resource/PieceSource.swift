/// What a resource is made of: a file, or a document that is fetched.
package protocol PieceSource: Sendable {
    /// How many bytes there will be, when that is known.
    var size: UInt64? { get }

    /// The next bytes, never none; nil after the last. Called on a thread of the file pool, by one task at a time.
    func next() async throws(ResourceFault) -> [UInt8]?

    /// No more will be asked for; a call that waits throws. From any thread.
    func cancel()
}
