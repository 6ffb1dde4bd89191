import Foundation
import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerSecurity

extension FuzzBody {
    /// The first byte says whether header and checksum are made correct, so that the fields after them are reached.
    package static let connectionData = FuzzBody("connection-data") { bytes throws(BrokenPromise) in
        var input = InputReader(bytes)
        let isRepaired = input.byte() & 1 == 1
        let rest = input.rest()
        let blob = isRepaired ? repaired(rest) : rest
        do {
            let data = try ConnectionData(parsing: blob)
            try promise(firstCheckOfTheHead(blob) == nil, "data that fails a check is not accepted")
            try examine(data, readFrom: blob)
        } catch let broken as BrokenPromise {
            throw broken
        } catch let refusal as InvalidConnectionData {
            try promise((1...14).contains(refusal.check), "a refusal names one of the checks")
            try promise(isPrintable("\(refusal)"), "a refusal is one printable line")
            try promise(
                refusal.closeCode == (refusal.check == 3 ? .version : .protocolError),
                "and has the code of that check")
            try promise(
                refusal.check == firstCheckOfTheHead(blob) ?? max(refusal.check, 6),
                "the first check that fails decides")
        } catch {
            throw BrokenPromise(description: "an error of another type: \(error)")
        }
        try examineArchive(rest)
    }
}

/// Returns the same fields between a correct header and a correct checksum.
private func repaired(_ fields: [UInt8]) -> [UInt8] {
    let count = UInt16(truncatingIfNeeded: 8 + fields.count + 8)
    let flags = fields.last ?? 0
    let checked =
        Array("MPCD".utf8) + [1, flags, UInt8(count >> 8), UInt8(truncatingIfNeeded: count)] + fields
    return checked + SHA256.hash(checked).prefix(8)
}

/// Makes checks 1 to 5, as simply as in the spec; returns nil when all hold.
private func firstCheckOfTheHead(_ blob: [UInt8]) -> Int? {
    if blob.count < 24 || blob.count > 1_024 { return 1 }
    if blob.prefix(4) != [0x4D, 0x50, 0x43, 0x44] { return 2 }
    if blob[4] != 1 { return 3 }
    if Int(blob[6]) * 256 + Int(blob[7]) != blob.count { return 4 }
    return SHA256.hash(Array(blob.dropLast(8))).prefix(8) == blob.suffix(8) ? nil : 5
}

private func examine(_ data: ConnectionData, readFrom blob: [UInt8]) throws(BrokenPromise) {
    try promise(data.bytes == blob, "connection data keeps its bytes")
    try promise((1...Limits.candidates).contains(data.candidates.count), "there are 1 to 16 candidates")
    try promise(
        !data.peer.uid.isKeyed || data.fingerprint != nil && data.flags.contains(.identity),
        "a keyed uid has a key")
    try promise(
        (data.fingerprint == nil) == (data.preference == .none), "a key is pinned unless there is none")
    try promise(
        (try? PeerID(parsing: data.peer.archived))?.displayName == data.peer.displayName, "names are complete"
    )
    let fields = try? ConnectionDataFields(decoding: blob)
    if let plain = try? fields?.encoded(grease: nil) {
        let again = try? ConnectionDataFields(decoding: plain).encoded(grease: nil)
        try promise(again == plain, "its canonical form encodes to itself")
    }
    for candidate in data.candidates {
        let tried = candidate.tried(on: Array(1...20))
        try promise((1...8).contains(tried.count), "a candidate is tried on 1 to 8 interfaces")
        let isAllowed = candidate.isDialable(allowingLoopback: false)
        try promise(!isAllowed || candidate.port >= 1_024, "low ports are not dialled")
        try promise(
            !isAllowed || candidate.isDialable(allowingLoopback: true),
            "allowing loopback only adds candidates")
    }
}

private func examineArchive(_ bytes: [UInt8]) throws(BrokenPromise) {
    try examineText(String(decoding: bytes, as: UTF8.self))
    if let sent = try? PeerID(parsingField: bytes) {
        try promise(sent.field == bytes, "a peer id is sent as the bytes that it was read from")
    }
    guard let peer = try? PeerID(parsing: bytes) else { return }
    let again = try? PeerID(parsing: peer.archived)
    try promise(again == peer && again?.archived == peer.archived, "an archived peer id is read unchanged")
    try promise((1...DisplayName.longest).contains(peer.displayName.utf8.count), "a name has 1 to 63 bytes")
}

/// Checks the form that applications archive, and changed versions of it.
private func examineText(_ text: String) throws(BrokenPromise) {
    guard let json = try? JSONEncoder().encode([text]) else { return }
    do {
        let peers = try JSONDecoder().decode([PeerID].self, from: json)
        let written = try JSONEncoder().encode(peers)
        let again = try JSONDecoder().decode([PeerID].self, from: written)
        try promise(
            again == peers && again.map(\.displayName) == peers.map(\.displayName),
            "a peer id in JSON is read unchanged")
    } catch let broken as BrokenPromise {
        throw broken
    } catch {
        try promise(error is DecodingError, "an invalid text is refused as such: \(error)")
    }
}
