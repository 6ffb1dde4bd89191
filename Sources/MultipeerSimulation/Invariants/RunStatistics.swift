/// Counts of what happened, in one run or in several.
package struct RunStatistics: Codable, Sendable {
    package var events = 0
    package var links = 0
    package var messages = 0
    package var entries = 0
    package var evictions = 0
    /// Channels that were read to their end, and bytes that were received on channels.
    package var channels = 0
    package var bytes = 0
    /// Verification codes that an application got, and marks that were reached.
    package var codes = 0
    package var marks = 0
    /// Messages that were received over UDP.
    package var datagrams = 0

    package init() {}

    package static func += (one: inout RunStatistics, other: RunStatistics) {
        one.events += other.events
        one.datagrams += other.datagrams
        one.links += other.links
        one.messages += other.messages
        one.entries += other.entries
        one.evictions += other.evictions
        one.channels += other.channels
        one.bytes += other.bytes
        one.codes += other.codes
        one.marks += other.marks
    }
}

extension RunStatistics: CustomStringConvertible {
    package var description: String {
        "\(events) events, \(links) links, \(messages) messages, \(datagrams) datagrams, \(entries) entries, \(evictions) evictions, "
            + "\(channels) channels, \(bytes) bytes, \(codes) codes, \(marks) marks"
    }
}
