package import MultipeerTransport

/// One request to a web server, whose response is read in pieces.
package protocol WebDocument: Sendable {
    /// Waits for the head of the response.
    func head() async throws(ResourceFault) -> WebHead

    /// Returns the available bytes, as many as fit into a piece; nil after the last.
    func next() async throws(ResourceFault) -> [UInt8]?

    /// Closes the connection; unread data is dropped.
    func cancel()
}

/// The beginning of a response.
package struct WebHead: Equatable, Sendable {
    package let status: Int
    /// The length of the document as it will be read, when it is known.
    package let length: UInt64?
    package let location: String?

    package init(status: Int, length: UInt64?, location: String?) {
        (self.status, self.length, self.location) = (status, length, location)
    }
}
