public import MultipeerFraming
public import MultipeerMesh

/// Why a call of this library did not do what it was asked.
///
/// Two errors are equal when their codes are; the text is for people.
public struct MultipeerError: Error, Sendable {
    /// What kind of failure it was; the list may grow.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The code as one word, for logs.
        public let rawValue: String
        /// The code with that word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The peer is not linked, or its link ended before what was asked for was done.
        public static let notConnected = Code(rawValue: "not-connected")
        /// The link ended, or could not be made, for the reason in `reason`.
        public static let ended = Code(rawValue: "ended")
        /// The message is longer than the peer accepts.
        public static let tooLarge = Code(rawValue: "too-large")
        /// The link is plain, and what was asked for needs an encrypted one.
        public static let notEncrypted = Code(rawValue: "not-encrypted")
        /// The other side has not answered in time, or an invitation had no answer or led to no link in its time. A link
        /// that there was lives.
        public static let timedOut = Code(rawValue: "timed-out")
        /// The connection data is not of the peer that was named, or none could be made.
        ///
        /// Data that cannot be read at all is an `InvalidConnectionData`; data that was read and leads to no link is
        /// `ended`, with the reason.
        public static let invalidConnectionData = Code(rawValue: "invalid-connection-data")
        /// An argument, or a field of the configuration, is outside its range.
        public static let invalidArgument = Code(rawValue: "invalid-argument")
        /// A certificate or key does not serve, or OpenSSL has failed.
        public static let identity = Code(rawValue: "identity")
        /// The system refused a socket, an address or a file.
        public static let system = Code(rawValue: "system")
        /// The task was cancelled while it waited; or this or the other side gave up an invitation, a search for a peer,
        /// a stream or a file. A message that waited was not sent.
        ///
        /// Every call that waits and throws a `MultipeerError` throws this where `Task.sleep` throws `CancellationError`,
        /// as `URLSession` throws `URLError.cancelled`. `try Task.checkCancellation()` in the `catch` makes the one the
        /// other, and tells whether it was this task.
        public static let cancelled = Code(rawValue: "cancelled")
        /// The other side did not want the stream, the file or the invitation.
        public static let declined = Code(rawValue: "declined")
        /// There is no room for the file, here or on the other side: the text says where.
        public static let noSpace = Code(rawValue: "no-space")
        /// The file arrived with another size or digest than was promised.
        public static let damaged = Code(rawValue: "damaged")
        /// A session that holds too much unread gave up the stream or the file that held most; or an advertiser had too many
        /// invitations open for the whole time of this one.
        public static let busy = Code(rawValue: "busy")
        /// The other side gave up the stream or the file, for what `closeCode` says.
        public static let aborted = Code(rawValue: "aborted")
        /// A file or directory of this side is missing, forbidden, of a kind that cannot be sent, or has failed.
        public static let file = Code(rawValue: "file")
        /// A document could not be fetched from the web, or only in part.
        public static let fetch = Code(rawValue: "fetch")
        /// The peer that was invited cannot be reached at any of its addresses, or has none any more.
        public static let unreachable = Code(rawValue: "unreachable")
        /// A session, here or on the other side, or its mesh, has no place left; or the queue of what waits for a peer.
        public static let full = Code(rawValue: "full")
        /// One side's links are always encrypted and the other's never, or a key is not the one that was announced.
        public static let incompatible = Code(rawValue: "incompatible")
        /// The invitation had been accepted or declined before.
        public static let alreadyAnswered = Code(rawValue: "already-answered")
        /// The browser does not see the peer that was named.
        public static let notFound = Code(rawValue: "not-found")
        /// Peers can neither be announced nor found here: another program has port 5353 for itself, no interface carries
        /// multicast, or none of that name exists. The text says which, and what helps.
        public static let discovery = Code(rawValue: "discovery")
    }

    /// What kind of failure it was.
    public let code: Code
    /// One line, lower case, without secrets.
    public let description: String
    /// Why the link ended, when that is what happened.
    public let reason: DisconnectReason?
    /// With what code the other side gave up a stream or a file, when that is what happened.
    public let closeCode: CloseCode?

    package init(
        _ code: Code, _ description: String, reason: DisconnectReason? = nil, closeCode: CloseCode? = nil
    ) {
        self.code = code
        self.description = description
        self.reason = reason
        self.closeCode = closeCode
    }
}

extension MultipeerError: Equatable, CustomStringConvertible {
    /// Whether the codes are the same.
    public static func == (one: MultipeerError, other: MultipeerError) -> Bool { one.code == other.code }
}
