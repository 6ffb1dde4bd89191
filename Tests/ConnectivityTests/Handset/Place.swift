/// Where an application is called by this library, and may call it back.
enum Place: String, CaseIterable, Sendable {
    // The session's delegate, and its handlers.
    case connecting, connected, notConnected
    case message, stream, resourceStarted, resourceFinished
    case certificate
    case resourceSent, connectionData
    // The other delegates.
    case invitation, notAdvertising
    case found, lost, notBrowsing
    // The delegates of streams.
    case writerOpened, writerHasSpace
    case readerOpened, readerHasBytes, readerEnded

    /// Who of the two is called there; nil: both.
    var isOfInviter: Bool? {
        switch self {
        case .found, .lost, .notBrowsing: true
        case .invitation, .notAdvertising: false
        default: nil
        }
    }
}

/// What an application does there.
enum Deed: String, CaseIterable, Sendable {
    case disconnect
    /// `delegate = nil`, of everything that has one.
    case dropDelegates
    /// The last reference of the application's goes, to everything.
    case release
    case send
    case invite
    case startStream
    case sendResource
    /// Whatever is under way: transfers, streams, searches.
    case cancel
    case stop
    /// Connection data is made, and connected with.
    case connect
}
