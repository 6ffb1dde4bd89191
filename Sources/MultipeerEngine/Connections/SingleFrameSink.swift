package import MultipeerFraming

/// Takes one frame from a decoder, then pauses it: before the link is established, each frame decides which machine
/// receives the next one.
package struct SingleFrameSink: FrameSink {
    package private(set) var header: FrameHeader?
    package private(set) var payload: [UInt8] = []
    package let frameLimit: Int
    package let frameContext: FrameContext?

    /// Creates the sink of a session: for frames before SELECTED.
    package init() {
        frameLimit = Limits.frameBeforeSelect  // [frame.limit-before]
        frameContext = .beforeSelected  // [frame.order]
    }

    /// Creates the sink of an invitation; only INVITE may be long.
    package init(maybeInvite: Bool) {
        frameLimit = maybeInvite ? Limits.frame : Limits.frameBeforeSelect  // [frame.limit-before]
        frameContext = .invitation  // [invite.order]
    }

    package var wantsFrames: Bool { header == nil }

    package mutating func receive(_ header: FrameHeader, _ payload: Span<UInt8>) {
        self.header = header
        self.payload = [UInt8](copying: payload)
    }
}
