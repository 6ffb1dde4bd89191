/// The domain of errors of this framework, the same as `MCError.errorDomain`.
public let MCErrorDomain: String = "MCErrorDomain"

/// The fewest peers of a session that is of use, the local one included.
public let kMCSessionMinimumNumberOfPeers: Int = 2

/// The most peers of a session, the local one included.
///
/// Who would be one more hears `.notConnected`, and the others notice nothing.
public let kMCSessionMaximumNumberOfPeers: Int = 8
