/// A peer in one of its sessions: uid 16, instance 8. Spec 3.2.
struct Endpoint: Hashable {
    var uid: [UInt8]
    var instance: [UInt8]

    var bytes: [UInt8] { uid + instance }

    init(uid: [UInt8], instance: [UInt8]) {
        self.uid = uid
        self.instance = instance
    }

    init(_ bytes: [UInt8]) throws(Malformed) {
        var reader = ByteReader(bytes)
        uid = try reader.raw(16)
        instance = try reader.raw(8)
        try reader.end(of: "an endpoint")
    }
}

/// The encryption preference of a session, and the outcome for two sessions. Spec 5.1.
enum Preference: UInt8, CaseIterable, Sendable {
    case optional = 0
    case required = 1
    case none = 2

    enum Outcome: Sendable { case plain, tls, refused }

    var word: String { "\(self)" }

    /// Returns the outcome of two preferences, by the table in the specification.
    func outcome(with other: Preference) -> Outcome {
        switch (self, other) {
        case (.none, .none), (.none, .optional), (.optional, .none): .plain
        case (.none, .required), (.required, .none): .refused
        case (.optional, .optional), (.optional, .required), (.required, .optional), (.required, .required):
            .tls
        }
    }

    /// Returns the preference that it counts as, with or without an identity.
    func counted(withIdentity: Bool) -> Preference { withIdentity && self == .optional ? .required : self }
}
