/// The peer states that the application sees, as a table. Spec 14.1; `Spec/states.json` holds the same.
package enum PeerStateMachine {
    package enum State: String, CaseIterable, Sendable {
        case notConnected, connecting, connected
    }

    package enum Event: String, CaseIterable, Sendable {
        /// The application requested the peer.
        case connectRequested
        /// One connection of the attempt failed; another may follow.
        case attemptLost
        /// The attempt has ended.
        case abandoned
        /// SELECTED was sent or received.
        case linked
        case linkEnded
        /// A newer connection replaced the link.
        case superseded
        /// The session was left.
        case left
    }

    /// Returns the next state, and the states to report to the application on the way: never the one last
    /// reported. [state.serial]
    package static func next(
        _ state: State, on event: Event
    ) -> (state: State, heard: [State]) {
        switch (state, event) {
        case (.notConnected, .connectRequested): (.connecting, [.connecting])
        case (.notConnected, .linked): (.connected, [.connecting, .connected])
        case (.notConnected, .attemptLost), (.notConnected, .abandoned), (.notConnected, .linkEnded),
            (.notConnected, .superseded), (.notConnected, .left):
            (.notConnected, [])
        case (.connecting, .linked): (.connected, [.connected])
        case (.connecting, .abandoned), (.connecting, .left): (.notConnected, [.notConnected])
        case (.connecting, .connectRequested), (.connecting, .attemptLost), (.connecting, .linkEnded),
            (.connecting, .superseded):
            (.connecting, [])
        case (.connected, .linkEnded), (.connected, .left): (.notConnected, [.notConnected])
        case (.connected, .superseded): (.connected, [.notConnected, .connected])
        case (.connected, .connectRequested), (.connected, .attemptLost), (.connected, .abandoned),
            (.connected, .linked):
            (.connected, [])
        }
    }
}
