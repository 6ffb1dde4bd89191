// Names are compared by their bytes, here as at a peer that is not written in Swift: a `String` would also be equal
// to another that only looks the same.

extension ActorID.Place {
    /// Returns whether both are the same number of one incarnation, or names with the same bytes.
    public static func == (one: ActorID.Place, other: ActorID.Place) -> Bool {
        switch (one, other) {
        case (.number(let one, let incarnation), .number(let other, let otherIncarnation)):
            one == other && incarnation == otherIncarnation
        case (.name(let one), .name(let other)): one.hasBytes(of: other)
        case (.number, .name), (.name, .number): false
        }
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .number(let number, let incarnation):
            hasher.combine(number)
            hasher.combine(incarnation)
        case .name(let name): hasher.combine(bytesOf: name)
        }
    }
}

extension Envelope.CheckIn {
    package static func == (one: Envelope.CheckIn, other: Envelope.CheckIn) -> Bool {
        one.place == other.place && one.key.hasBytes(of: other.key) && one.type.hasBytes(of: other.type)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(bytesOf: key)
        hasher.combine(bytesOf: type)
        hasher.combine(place)
    }
}

extension CheckInRegistry.Slot {
    static func == (one: CheckInRegistry.Slot, other: CheckInRegistry.Slot) -> Bool {
        one.key.hasBytes(of: other.key) && one.type.hasBytes(of: other.type)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(bytesOf: key)
        hasher.combine(bytesOf: type)
    }
}

extension String {
    fileprivate func hasBytes(of other: String) -> Bool {
        utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8)
    }
}

extension Hasher {
    /// Hashes the number of bytes as well, so that what is hashed next cannot pass for a part of the text.
    fileprivate mutating func combine(bytesOf text: String) {
        combine(text.utf8.count)
        for byte in text.utf8 { combine(byte) }
    }
}
