public import Distributed
public import Multipeer
public import MultipeerCore

/// The error of a call of an actor at another peer that got no answer from its method.
///
/// Two errors are equal when their codes are; the text is for people. A task that is cancelled while it waits for an answer gets
/// a `CancellationError` instead.
public struct ActorCallError: DistributedActorSystemError, Sendable {
    /// The kind of failure; the list may grow.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The code as one word, for logs.
        public let rawValue: String
        /// Creates the code with that word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The peer is not linked. The method was not called.
        public static let notConnected = Code(rawValue: "not-connected")
        /// The link ended, for the reason in `reason`, before the answer arrived. The method may have run or not.
        public static let ended = Code(rawValue: "ended")
        /// The peer has created another system since: the actors of the previous one are gone. The method may have run or not.
        public static let replaced = Code(rawValue: "replaced")
        /// The call timed out. The method may have run, and is cancelled. For a stream or file: the peer has not opened it.
        public static let timedOut = Code(rawValue: "timed-out")
        /// The peer has no actor system, none that responded within 10 seconds, or no longer has one. A method that was called before
        /// may have run.
        public static let noSystem = Code(rawValue: "no-system")
        /// The peer's system speaks another version of the protocol. The method was not called.
        public static let incompatible = Code(rawValue: "incompatible")
        /// There is no such actor at the peer, or it is gone. The method was not called.
        public static let noSuchActor = Code(rawValue: "no-such-actor")
        /// The peer does not allow calls of this method of this type, or not with these generic arguments. See
        /// `PeerActorSystem.register(_:as:generics:arguments:methods:)`. The method was not called.
        public static let refused = Code(rawValue: "refused")
        /// Too many calls are waiting already: the method was not called. Or too many unread answers are waiting at the peer, so
        /// that there was no room for this one: the method has run. For a stream: too many wait for their turn.
        public static let busy = Code(rawValue: "busy")
        /// The arguments are larger than the peer accepts, or the result than this side does.
        public static let tooLarge = Code(rawValue: "too-large")
        /// The arguments, the result or an error could not be encoded, or could not be decoded on the other side.
        public static let coding = Code(rawValue: "coding")
        /// The method ended because its task was cancelled, on the other side.
        public static let cancelled = Code(rawValue: "cancelled")
        /// A name, or a type that was registered, is not usable; or the session has an actor system already.
        public static let invalidArgument = Code(rawValue: "invalid-argument")
    }

    /// The kind of failure.
    public let code: Code
    /// One line, in lower case.
    public let description: String
    /// Why the link ended, if the error is that it did.
    public let reason: DisconnectReason?

    init(_ code: Code, _ description: String, reason: DisconnectReason? = nil) {
        self.code = code
        self.description = description
        self.reason = reason
    }
}

extension ActorCallError: Equatable, CustomStringConvertible {
    /// Returns whether the codes are equal.
    public static func == (one: ActorCallError, other: ActorCallError) -> Bool { one.code == other.code }
}

/// An error that a method at another peer threw, and whose type one of the sides has not registered.
///
/// Its text comes from the other side: escape it before showing it.
public struct RemoteError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name of its type at the peer, at most 255 bytes.
    public let type: String
    /// Its description, at most 1,024 bytes.
    public let description: String
    /// The peer whose actor threw it.
    public let peer: PeerID
}
