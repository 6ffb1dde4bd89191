import MultipeerFraming

/// One message between two actor systems. All numbers are big-endian; the page on the wire format in the
/// documentation describes the bytes.
package enum Envelope: Equatable, Sendable {
    case hello(Hello)
    case call(Call)
    case answer(CallNumber, Answer)
    case cancel(CallNumber)
    case checkIn(CheckIn)
    case checkOut(CheckIn)
    /// The system of that incarnation is gone; its session still exists.
    case bye(UInt64)
    /// How many nested calls the sender accepts at each depth, in addition to the others.
    case nesting(UInt32)

    /// Returns an answer to a call that has neither a result nor an error.
    static func refusal(_ number: CallNumber, _ failure: Failure, _ text: String) -> Envelope {
        .answer(number, .failure(failure, type: "", text: text))
    }

    /// The first bytes of every envelope.
    package static let mark: UInt32 = 0x0041_4354
    package static let version: UInt8 = 1

    enum Kind: UInt8 {
        case hello = 1, call, value, done, error, failure, cancel, checkIn, checkOut, bye, nesting, innerCall
    }
}

/// Identifies a call between two systems; each side counts its own, from any number.
package typealias CallNumber = UInt64

/// The format of arguments and results.
package enum Coding: UInt8, Sendable {
    case binary = 0
    case json = 1
}

extension Envelope {
    /// A system's description of itself, the first message on every link.
    package struct Hello: Equatable, Sendable {
        package var incarnation: UInt64
        /// The incarnation of the other side that this one knows; 0 for none. A system that is not known sends its
        /// HELLO again.
        package var known: UInt64
        /// At most how many calls, and bytes of calls, it accepts at a time; how long an envelope may be.
        package var calls: UInt32
        package var bytes: UInt32
        package var longest: UInt32

        package init(
            incarnation: UInt64, known: UInt64 = 0, calls: UInt32, bytes: UInt32, longest: UInt32
        ) {
            self.incarnation = incarnation
            self.known = known
            self.calls = calls
            self.bytes = bytes
            self.longest = longest
        }
    }

    package struct Call: Equatable, Sendable {
        package var number: CallNumber
        /// The number of calls within which it is made: 0 for none, 255 for that many or more.
        package var depth: UInt8
        /// In milliseconds; nil for no limit.
        package var budget: UInt32?
        package var coding: Coding
        package var place: ActorID.Place
        package var target: String
        /// Mangled names of types.
        package var generics: [String]
        package var arguments: [[UInt8]]

        package init(
            number: CallNumber = 0, depth: UInt8 = 0, budget: UInt32? = nil, coding: Coding = .binary,
            place: ActorID.Place, target: String, generics: [String] = [], arguments: [[UInt8]] = []
        ) {
            self.number = number
            self.depth = depth
            self.budget = budget
            self.coding = coding
            self.place = place
            self.target = target
            self.generics = generics
            self.arguments = arguments
        }
    }

    package enum Answer: Equatable, Sendable {
        case value(Coding, [UInt8])
        case done
        /// An error of a registered type.
        case error(type: String, Coding, [UInt8])
        case failure(Failure, type: String, text: String)
    }

    /// Why a call has neither a result nor an error of a registered type.
    package enum Failure: UInt8, CaseIterable, Sendable {
        case noSuchActor = 1, refused, busy, tooLarge, coding, cancelled, timedOut, thrown
    }

    /// An actor that can be found. Check-ins are ordered, so that several at once arrive in the same order in each
    /// process.
    package struct CheckIn: Hashable, Comparable, Sendable {
        package var key: String
        /// The mangled name of the type under which it is found.
        package var type: String
        package var place: ActorID.Place

        package init(key: String, type: String, place: ActorID.Place) {
            self.key = key
            self.type = type
            self.place = place
        }

        package static func < (one: CheckIn, other: CheckIn) -> Bool {
            (one.key, one.type) != (other.key, other.type)
                ? (one.key, one.type) < (other.key, other.type) : one.place.order < other.place.order
        }
    }

    /// Limits of the format; HELLO announces the others.
    package enum Limit {
        package static let target = 2_048
        package static let generic = 512
        package static let generics = 16
        package static let arguments = 64
        package static let type = 255
        package static let text = 1_024
        package static let key = 255
        /// Depths of nested calls that have quotas of their own; the last is shared by all deeper ones.
        package static let depths = 8
        /// The length up to which every system accepts an envelope, in bytes.
        package static let shortest = 1_024
    }
}

extension ActorID.Place {
    /// Names come after numbers.
    fileprivate var order: (UInt64, UInt64, String) {
        switch self {
        case .number(let number, let incarnation): (incarnation, number, "")
        case .name(let name): (.max, .max, name)
        }
    }
}
