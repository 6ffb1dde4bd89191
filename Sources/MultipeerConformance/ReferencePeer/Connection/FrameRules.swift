/// The checks of 7.5 that need only the header, and are the same in every phase.
struct FrameRules {
    let bug: Bug?

    private static let sizes: [FrameKind: Int] = [
        .confirm: 32, .select: 0, .selected: 0, .ping: 8, .pong: 8, .datagrams: 11, .reset: 2, .stop: 2,
        .credit: 8,
        .done: 2, .resume: 40, .begin: 8, .codeRequest: 0, .codeCommit: 32, .codeNonce: 32, .codeReveal: 32,
        .codeResult: 2,
        .share: 67, .confirmation: 32,
    ]
    private static let ofChannels: Set<FrameKind> = [
        .open, .data, .fin, .reset, .stop, .done, .resume, .begin,
    ]

    /// Makes check 2; returns false for a frame that is to be skipped.
    func isKnown(_ header: FrameHeader) throws(ProtocolError) -> Bool {
        if FrameKind.names[header.kind] != nil { return true }
        if bug == .skipsUnknownKinds { return false }
        if bug == .crashesOnUnknownKind { fatalError("an unknown kind") }
        try demand(header.kind.isIgnorable && bug != .refusesIgnorable, "\(header.kind) is unknown")
        return false
    }

    /// Makes checks 4 and 5.
    func check(_ header: FrameHeader) throws(ProtocolError) {
        if header.kind != .credit, bug != .channelUnchecked {
            let isOfChannel = FrameRules.ofChannels.contains(header.kind)
            try demand(isOfChannel == (header.channel != 0), "\(header.kind) on channel \(header.channel)")
        }
        if let size = FrameRules.sizes[header.kind], bug != .payloadSizeUnchecked {
            try demand(header.length == size, "\(header.kind) of \(header.length) bytes")
        }
    }
}

/// Check 3 of 6.2: what HELLO must contain.
struct HelloCheck {
    let bug: Bug?

    func check(_ entries: [TLVEntry]) throws(ProtocolError) {
        if bug == .helloIncompleteAccepted { return }
        typealias Field = Hello.Field
        if bug == .helloSizesUnchecked {
            for field in Field.mandatory {
                try demand(entries.first(field) != nil, "entry \(field) is missing")
            }
            return
        }
        let versions = try entries.demanded(Field.versions, "VERSIONS", 2...2_040)
        try demand(versions.count % 2 == 0, "half a version")
        _ = try entries.demanded(Field.sender, "SENDER", 24)
        _ = try entries.demanded(Field.receiver, "RECEIVER", 24)
        _ = try entries.demanded(Field.myData, "MY_DATA_REF", 32)
        _ = try entries.demanded(Field.yourData, "YOUR_DATA_REF", 32)
        _ = try entries.demanded(Field.nonce, "NONCE", 32)
        let limits = try entries.demanded(Field.limits, "LIMITS", 20)
        try demand(limits.prefix(8).map(\.self).number >= 65_536, "max_message is too small")
        let members = try entries.demanded(Field.members, "MEMBERS", 1...65_535)
        try demand(members[0] <= 32 || bug == .helloMembersUnbounded, .flood, "\(members[0]) members")
        try demand(members.count == 1 + 24 * Int(members[0]), "MEMBERS: length and count differ")
        if let agent = try entries.possible(Field.agent, "AGENT", 0...64) {
            try demand(agent.isText, "AGENT")
        }
    }
}

/// The first eight bytes of a frame. Spec 7.1.
struct FrameHeader {
    let length: Int
    let kind: FrameKind
    let channel: UInt32

    init(_ bytes: ArraySlice<UInt8>) {
        let bytes = Array(bytes)
        length = Int(bytes[0..<3].map(\.self).number)
        kind = FrameKind(bytes[3])
        channel = UInt32(bytes[4..<8].map(\.self).number)
    }
}
