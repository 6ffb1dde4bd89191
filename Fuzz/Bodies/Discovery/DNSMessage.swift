import MultipeerCore
import MultipeerDiscovery

extension FuzzBody {
    /// The input is a datagram; its bytes are tried as a label and as a TXT record, too.
    package static let dnsMessage = FuzzBody("dns-message") { bytes throws(BrokenPromise) in
        try examineInstance(bytes)
        guard let message = read(bytes) else { return }
        let records = message.answers + message.authorities + message.additionals
        try promise(bytes.count <= DNSMessage.longest, "a message that is too long is refused")
        try promise(
            message.recordCount <= DNSMessage.mostRecords, "the number of records is within the limit")
        for name in message.questions.map(\.name) + records.flatMap(names) { try examine(name) }
        for record in records { try examine(record) }
        try promise(
            (try? message.encoded())?.count ?? message.encodedCount == message.encodedCount,
            "the computed size matches the written message")
        for (isCompressing, isLegacy) in [(true, false), (true, true), (false, false)] {
            guard let written = try? message.encoded(compressing: isCompressing, legacy: isLegacy) else {
                // Hostile pointers expand few bytes to more than a message may have.
                try promise(
                    uncompressedCount(message) > DNSMessage.longest,
                    "a message that was read can be written if it fits"
                )
                continue
            }
            try promise(written.count <= DNSMessage.longest, "no written message is too long")
            try promise(
                written.count <= uncompressedCount(message), "the sizes of the parts are an upper bound")
            try promise(read(written) == message, "a message that was written is read unchanged")
        }
    }
}

private func read(_ bytes: [UInt8]) -> DNSMessage? { try? DNSMessage(bytes.span) }

private func uncompressedCount(_ message: DNSMessage) -> Int {
    let records = message.answers + message.authorities + message.additionals
    return message.questions.map(\.encodedCount).reduce(DNSMessage.headCount, +)
        + records.map(\.encodedCount).reduce(0, +)
}

private func names(in record: DNSRecord) -> [DNSName] {
    switch record.data {
    case .ptr(let name), .srv(_, _, _, let name), .nsec(let name, _): [record.name, name]
    default: [record.name]
    }
}

private func examine(_ name: DNSName) throws(BrokenPromise) {
    let labels = name.labels
    try promise((1...255).contains(name.encodedCount), "a name has at most 255 bytes")
    try promise(labels.allSatisfy { (1...63).contains($0.count) }, "a label has 1 to 63 bytes")
    try promise(labels.map { $0.count + 1 }.reduce(1, +) == name.encodedCount, "a name is its labels")
    try promise(DNSName(name.description) == name, "the displayed name denotes the same labels")
}

private func examine(_ record: DNSRecord) throws(BrokenPromise) {
    switch record.data {
    case .a(let address): try promise(address.count == 4, "an IPv4 address has 4 bytes")
    case .aaaa(let address): try promise(address.count == 16, "an IPv6 address has 16 bytes")
    case .txt(let strings): try promise(!strings.isEmpty, "a TXT record has at least one string")
    case .nsec(_, let types):
        try promise(types.allSatisfy { $0 < 256 }, "an NSEC record has the restricted form")
    default: break
    }
}

/// Parses a label and a TXT record: the first byte says how much of the rest is the label; what follows is the TXT.
private func examineInstance(_ bytes: [UInt8]) throws(BrokenPromise) {
    var input = InputReader(bytes)
    let label = input.bytes(Int(input.byte() & 63))
    let found = Binding.uid(inLabel: label)
    guard let uid = found ?? UID([UInt8](repeating: 7, count: 16)) else { return }
    guard let peer = Binding.read(txt: input.rest(), uid: uid) else { return }
    let again = Binding.label(for: peer.peer, attempt: label.count)
    try promise((27...63).contains(again.count), "a label has at most 63 bytes")
    try promise(Binding.uid(inLabel: again) == uid, "a label contains its uid")
    guard let info = try? DiscoveryInfo(validating: peer.info) else { return }
    try promise(
        Binding.read(txt: Binding.txt(peer.peer, info), uid: uid) == peer, "an advertised peer is found")
}
