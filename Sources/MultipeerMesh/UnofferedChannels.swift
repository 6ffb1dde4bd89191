import MultipeerFraming

/// Streams and resources that the peer opens although this version offers none: every one is declined, and what was
/// already on its way is dropped. Spec 9.
///
/// A peer may have as many channels open as our HELLO says. It takes the STOPs in order, so only that many of the
/// latest can still have something on the way; the older ones are forgotten.
struct UnofferedChannels: Sendable {
    private struct Declined: Sendable {
        let channel: UInt32
        var credit: Int
    }

    private let limit: Int
    private let credit: Int
    private var declined: [Declined] = []
    private var last: UInt32 = 0
    private var emptyInARow = 0
    /// Channels whose STOP is still to be written.
    private var stops: [UInt32] = []

    init(_ local: LinkLimits) {
        limit = Int(local.maxChannels)
        credit = Int(local.channelCredit)
    }

    var hasReplies: Bool { !stops.isEmpty }
    var replies: Int { stops.count }

    mutating func takeReplies(upTo count: Int) -> [Frame] {
        defer { stops.removeFirst(min(count, stops.count)) }
        return stops.prefix(count).map { .stop(channel: $0, .declined) }
    }

    mutating func opened(_ channel: UInt32) throws(Violation) {
        guard last < .max, channel == last + 1 else { throw .channelOutOfTurn(channel) }
        last = channel
        stops.append(channel)
        guard limit > 0 else { return }
        if declined.count == limit { declined.removeFirst() }
        declined.append(Declined(channel: channel, credit: credit))
    }

    mutating func data(_ channel: UInt32, count: Int) throws(Violation) {
        let place = try place(of: channel, .data)
        emptyInARow = count == 0 ? emptyInARow + 1 : 0
        guard emptyInARow <= Self.emptyLimit else { throw .tooManyEmptyFrames }  // [limit.empty]
        guard count <= declined[place].credit else { throw .beyondChannelCredit(channel) }
        declined[place].credit -= count
    }

    /// FIN or RESET: the peer will send nothing more there.
    mutating func finished(_ channel: UInt32, _ kind: FrameKind) throws(Violation) {
        declined.remove(at: try place(of: channel, kind))
    }

    private func place(of channel: UInt32, _ kind: FrameKind) throws(Violation) -> Int {
        guard let place = declined.firstIndex(where: { $0.channel == channel }) else {
            throw .channelNotOpen(kind, channel)
        }
        return place
    }

    /// More empty DATA than this in a row are a flood.
    private static let emptyLimit = 8
}
