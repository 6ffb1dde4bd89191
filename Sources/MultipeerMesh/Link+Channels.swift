package import MultipeerFraming

// MARK: our own channels

extension Link {
    /// Queues OPEN and answers the channel's number. OPEN goes when the peer has a place and credit for it: `began`.
    package mutating func open(_ opening: ChannelOpening) -> UInt32 {
        lastChannel += 1
        return lastChannel
    }

    /// Puts bytes behind those that wait; the owner sees to it that they do not become too many.
    package mutating func write(_ bytes: consuming [UInt8], to channel: UInt32) {}

    /// FIN, behind everything that waits: `ended`.
    package mutating func finish(_ channel: UInt32, digest: [UInt8]? = nil) {}

    /// RESET, at once: what waits is dropped. A channel whose OPEN did not go leaves no trace.
    package mutating func reset(_ channel: UInt32, _ code: CloseCode) {}
}

// MARK: the peer's channels

extension Link {
    /// The application has taken so many bytes: the peer may send them again.
    package mutating func consumed(_ count: Int, of channel: UInt32) {}

    /// STOP: what still comes is dropped, and nothing of the channel counts as held any more.
    package mutating func stop(_ channel: UInt32, _ code: CloseCode) {}

    /// DONE: what became of a resource, after `finished`.
    package mutating func done(_ channel: UInt32, _ code: CloseCode) {}

    /// Bytes of channels that were received and not consumed.
    package var heldBytes: Int { 0 }

    /// Stops the channel of which most is held, and answers which: the owner drops what it holds of it.
    package mutating func stopFullest(_ code: CloseCode) -> UInt32? { nil }
}

extension Link {
    /// What happened to channels since the last call, in order.
    package mutating func takeChannelEvents() -> [ChannelEvent] { [] }

    /// Queues a DGRAM or SAS frame of the owner; it goes with the control frames.
    package mutating func say(_ frame: Frame) { replies.append(frame) }
}

// MARK: reassembly beyond the window

extension Link {
    /// Whether a message is being put together that may need more credit than the window, or has used it.
    package var wantsTurn: Bool { false }

    /// Whether credit may go beyond the window for a message in reassembly. True unless the owner takes turns.
    package var hasTurn: Bool {
        get { mayReassemble }
        set { mayReassemble = newValue }
    }

    /// What the owner of the turns has to know of a link.
    package var reassembly: ReassemblyTurns.Report {
        ReassemblyTurns.Report(wants: wantsTurn, brought: 0, isHeldUp: false)
    }
}
