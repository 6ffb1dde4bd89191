/// The domain of errors of this framework, the same as `MCError.errorDomain`.
public let MCErrorDomain: String = "MCErrorDomain"

/// The smallest useful number of peers in a session, including the local one.
public let kMCSessionMinimumNumberOfPeers: Int = 2

/// The maximum number of peers in a session, including the local one.
///
/// A further peer receives `.notConnected`, and the others are not affected.
public let kMCSessionMaximumNumberOfPeers: Int = 8
