package import MultipeerCore
package import MultipeerFraming
import MultipeerIntroduction
package import MultipeerLink
import MultipeerMesh

extension SessionEngine {
    /// One connection, from its dial or its acceptance until it is given back. Only its engine holds it.
    ///
    /// ```
    /// securing ──secured──▶ open ──CLOSE, end of the link──▶ finishing ──the peer's end, 1 s──▶ (dropped)
    ///     └──────────────────┴──ended──▶ (dropped)
    /// ```
    final class Connection {
        enum Phase: Equatable {
            case securing
            case open
            /// What waits is written, our side is ended, and the peer's end is awaited.
            case finishing(until: Moment)
        }

        let id: ConnectionID
        var phase = Phase.securing
        var decoder = FrameDecoder()
        /// Frames that are no link's: those before SELECTED, and the last CLOSE.
        var frames = ByteBuffer()
        /// Set while the connection is a link.
        var peer: LinkedPeer?
        var isDue = false
        var isEncrypted = false

        init(_ id: ConnectionID) { self.id = id }

        var finishDeadline: Moment? { if case .finishing(let until) = phase { until } else { nil } }
    }
}

/// A peer that is linked: the link's machine and what the session knows of its channels.
package final class LinkedPeer {
    package let peer: PeerID
    package var link: Link
    package let isEncrypted: Bool
    package let isMesh: Bool
    /// Channels of ours that are not over.
    var outgoing: [UInt32: ChannelOpening.Kind] = [:]
    /// Channels of the peer that are not over and read.
    var incoming: [UInt32: Incoming] = [:]
    /// The peer has opened a channel, or answered one.
    var hasHeardOfChannels = false
    /// The link has a long message to reassemble, or had one when it was last asked.
    var wantsTurn = false
    /// The session leaves: GOODBYE goes when everything else has gone.
    var isLeaving = false
    var verification = Verification()

    struct Incoming {
        let kind: ChannelOpening.Kind
        /// FIN has come.
        var isFinished = false
    }

    init(_ peer: PeerID, _ link: consuming Link, isEncrypted: Bool, isMesh: Bool) {
        self.peer = peer
        self.link = link
        self.isEncrypted = isEncrypted
        self.isMesh = isMesh
    }
}

/// Takes one frame out of a decoder, then pauses it: before a link stands, each frame decides who gets the next one.
package struct OneFrame: FrameSink {
    package private(set) var header: FrameHeader?
    package private(set) var payload: [UInt8] = []
    package let frameLimit: Int
    package let frameOrder: FrameOrder?

    /// Of a session: what may come before SELECTED.
    package init() {
        frameLimit = Limits.frameBeforeSelect  // [frame.limit-before]
        frameOrder = .beforeSelected  // [frame.order]
    }

    /// Of an invitation; only INVITE may be long.
    package init(maybeInvite: Bool) {
        frameLimit = maybeInvite ? Limits.frame : Limits.frameBeforeSelect  // [frame.limit-before]
        frameOrder = .invitation  // [invite.order]
    }

    package var wantsFrames: Bool { header == nil }

    package mutating func receive(_ header: FrameHeader, _ payload: Span<UInt8>) {
        self.header = header
        self.payload = [UInt8](copying: payload)
    }
}
