/// Identifies one question to the application about an invitation. An `Invitee` never reuses a number.
package struct QuestionID: RawRepresentable, Hashable, Comparable, Sendable {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
    package static func < (one: QuestionID, other: QuestionID) -> Bool { one.rawValue < other.rawValue }
}
