import MultipeerCore

/// The addresses whose invitations the application declined again and again: their next ones are refused without a question.
/// Spec 12. [invite.quiet]
///
/// Three refusals in a row, each within 10 minutes after the one before, make an address quiet for 60 s; each further one doubles
/// that, up to 600 s. An acceptance ends it. At most 64 addresses are remembered.
struct RefusedAddresses: Sendable {
    private struct Record: Sendable {
        var refusals = 0
        var last: Moment
        /// The time until which the address is quiet.
        var end: Moment
    }

    private var records: [AddressGroup: Record] = [:]

    /// The number of addresses that are remembered.
    var count: Int { records.count }

    /// Notes that the application declined an invitation from this address.
    mutating func refused(_ address: AddressGroup, at now: Moment) {
        records = records.filter { now < $0.value.end + InvitationTiming.refusalMemory }
        var record = records[address] ?? Record(last: now, end: now)
        record.refusals += 1
        record.last = now
        record.end = now
        let surplus = record.refusals - InvitationLimits.refusals
        if surplus >= 0 {
            let pause = InvitationTiming.firstQuiet * (1 << min(surplus, 4))
            record.end = now + min(pause, InvitationTiming.longestQuiet)
        }
        records[address] = record
        guard records.count > InvitationLimits.refusedAddresses else { return }
        let oldest = records.min {
            ($0.value.last, $0.value.refusals, $0.key) < ($1.value.last, $1.value.refusals, $1.key)
        }
        if let oldest { records[oldest.key] = nil }
    }

    /// Notes that the application accepted an invitation from this address.
    mutating func accepted(_ address: AddressGroup) { records[address] = nil }

    /// Returns whether an invitation from this address is refused without a question.
    func isQuiet(_ address: AddressGroup, at now: Moment) -> Bool {
        records[address].map { now < $0.end } ?? false
    }
}
