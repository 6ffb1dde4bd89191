/// One question that an application was asked about an invitation. No number comes twice from one `Invitee`.
package struct QuestionID: RawRepresentable, Hashable, Comparable, Sendable {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
    package static func < (one: QuestionID, other: QuestionID) -> Bool { one.rawValue < other.rawValue }
}
