/// Where an application is called by this library, and may call it back.
enum CallbackSite: String, CaseIterable, Sendable {
    // The session's delegate, and its handlers.
    case connecting, connected, notConnected
    case message, stream, resourceStarted, resourceFinished
    case certificate
    case resourceSent, connectionData
    // The other delegates.
    case invitation, notAdvertising
    case found, lost, notBrowsing
    // The delegates of streams.
    case writerOpened, writerHasSpace, writerFailed
    case readerOpened, readerHasBytes, readerEnded, readerFailed
    // An assistant's delegate, and its presenter.
    case willPresent, asked, didDismiss
    // A browser controller's delegate.
    case mayShow, finished, cancelled

    /// Whether the inviter is called there, or the invitee; nil: both.
    var isOfInviter: Bool? {
        switch self {
        case .found, .lost, .notBrowsing: true
        case .invitation, .notAdvertising: false
        default: isOfChooser ? true : isOfAssistant ? false : nil
        }
    }

    /// Whether the invitee has an assistant for it.
    var isOfAssistant: Bool { [.willPresent, .asked, .didDismiss].contains(self) }

    /// Whether the inviter has a browser controller for it.
    var isOfChooser: Bool { [.mayShow, .finished, .cancelled].contains(self) }
}

/// What an application does there.
enum CallbackAction: String, CaseIterable, Sendable {
    case disconnect
    /// `delegate = nil`, of everything that has one.
    case dropDelegates
    /// The last reference of the application's goes, to everything.
    case release
    case send
    case invite
    case startStream
    case sendResource
    /// Everything in progress: transfers, streams, searches.
    case cancel
    case stop
    /// Connection data is made, and connected with.
    case connect
}
