/// Ends the wait of a loop's thread. Its owner closes it.
package protocol ThreadWaker: Sendable {
    /// What the loop's thread watches.
    var descriptor: Int32 { get }

    init() throws(SocketFault)

    /// Ends the present wait, or the next one. From any thread, and however often: it never blocks.
    func wake()

    func close()
}
