public import MultipeerFraming
public import MultipeerMesh

/// The error that the calls of this library throw.
///
/// Two errors are equal when their codes are; the text is for people.
public struct MultipeerError: Error, Sendable {
    /// The kind of failure; the list may grow.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The code as one word, for logs.
        public let rawValue: String
        /// Creates the code with that word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The peer is not linked, or its link ended before the request was completed.
        public static let notConnected = Code(rawValue: "not-connected")
        /// The link ended, or could not be made, for the reason in `reason`.
        public static let ended = Code(rawValue: "ended")
        /// The message is longer than the peer accepts.
        public static let tooLarge = Code(rawValue: "too-large")
        /// The link is plain, and the request needs an encrypted one.
        public static let notEncrypted = Code(rawValue: "not-encrypted")
        /// The other side has not responded in time, or an invitation had no answer or led to no link in time. An existing link
        /// stays.
        public static let timedOut = Code(rawValue: "timed-out")
        /// The connection data cannot be read, is not that of the named peer, or none could be made.
        ///
        /// Data that was read and leads to no link is `ended`, with the reason.
        public static let invalidConnectionData = Code(rawValue: "invalid-connection-data")
        /// An argument, or a field of the configuration, is outside its range.
        public static let invalidArgument = Code(rawValue: "invalid-argument")
        /// An identity is encrypted, and the passphrase is missing or wrong.
        public static let passphrase = Code(rawValue: "passphrase")
        /// A certificate or key is not usable, or OpenSSL has failed.
        public static let identity = Code(rawValue: "identity")
        /// The system refused a socket, an address or a file.
        public static let system = Code(rawValue: "system")
        /// The task was cancelled while it waited; or this or the other side gave up an invitation, a connection attempt, a
        /// stream or a file. A message that waited was not sent.
        ///
        /// Every call that waits and throws a `MultipeerError` throws this where `Task.sleep` throws `CancellationError`, as
        /// `URLSession` throws `URLError.cancelled`. `try Task.checkCancellation()` in the `catch` converts one into the other,
        /// and shows whether it was this task.
        public static let cancelled = Code(rawValue: "cancelled")
        /// The other side declined the stream, the file, the invitation, or to compare verification codes.
        public static let declined = Code(rawValue: "declined")
        /// There is no space for the file, here or on the other side: the text says where.
        public static let noSpace = Code(rawValue: "no-space")
        /// This side or the other has too many open files for another file or peer: the text says which.
        public static let tooManyFiles = Code(rawValue: "too-many-files")
        /// The file arrived with a size or digest other than the promised one.
        public static let damaged = Code(rawValue: "damaged")
        /// A session that holds too much unread data gave up the stream or the file that held most; or an advertiser had too many
        /// invitations open the whole time.
        public static let busy = Code(rawValue: "busy")
        /// The other side gave up the stream or the file, for the reason in `closeCode`.
        public static let aborted = Code(rawValue: "aborted")
        /// A local file or directory is missing, forbidden, of a kind that cannot be sent, or has failed.
        public static let file = Code(rawValue: "file")
        /// A document could not be fetched from the web, or only in part.
        public static let fetch = Code(rawValue: "fetch")
        /// The sequence of bytes that was sent as a file threw an error, or its length is not the announced one.
        public static let source = Code(rawValue: "source")
        /// The peer that was invited cannot be reached at any of its addresses, or no longer has one.
        public static let unreachable = Code(rawValue: "unreachable")
        /// A session, here or on the other side, or its mesh, has no room left; or the queue to a peer is full.
        public static let full = Code(rawValue: "full")
        /// One side's links are always encrypted and the other's never, or a key is not the one that was announced.
        public static let incompatible = Code(rawValue: "incompatible")
        /// The invitation had already been accepted or declined.
        public static let alreadyAnswered = Code(rawValue: "already-answered")
        /// The code of an invitation is mistyped, or another host answered in the peer's place and has guessed once. The code must
        /// not be tried again: make a new one.
        public static let wrongCode = Code(rawValue: "wrong-code")
        /// The peer claims that it has another code, or that this one was used or was ended by a wrong guess. It has learned nothing.
        public static let unknownCode = Code(rawValue: "unknown-code")
        /// The peer has a code, and the invitation was made without one.
        public static let codeRequired = Code(rawValue: "code-required")
        /// Several peers announce the number of the code: none was tried.
        public static let ambiguousCode = Code(rawValue: "ambiguous-code")
        /// The browser does not see the named peer.
        public static let notFound = Code(rawValue: "not-found")
        /// Peers can neither be announced nor found here: another program has exclusive use of port 5353, no interface carries
        /// multicast, or no interface has the given name. The text says which, and how to fix it.
        public static let discovery = Code(rawValue: "discovery")
    }

    /// The kind of failure.
    public let code: Code
    /// One line, in lower case, without secrets.
    public let description: String
    /// Why the link ended, if the error is that it did.
    public let reason: DisconnectReason?
    /// The code with which the other side gave up a stream or a file, if the error is that it did.
    public let closeCode: CloseCode?

    /// Why a file of this side could not be read or written, if the error is that.
    package let file: FileFault.Reason?

    package init(
        _ code: Code, _ description: String, reason: DisconnectReason? = nil, closeCode: CloseCode? = nil,
        file: FileFault.Reason? = nil
    ) {
        self.file = file
        self.code = code
        self.description = description
        self.reason = reason
        self.closeCode = closeCode
    }
}

extension MultipeerError.Code: CustomStringConvertible {
    /// The code as one word.
    public var description: String { rawValue }
}

extension MultipeerError: Equatable, CustomStringConvertible {
    /// Returns whether the codes are equal.
    public static func == (one: MultipeerError, other: MultipeerError) -> Bool { one.code == other.code }
}
