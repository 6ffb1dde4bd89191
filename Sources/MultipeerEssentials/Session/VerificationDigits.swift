/// The digits by which two users verify each other: each side shows its own six, and its user types the other side's six.
///
/// The two numbers differ, so a user cannot confirm by copying what is on the screen.
public struct VerificationDigits: Hashable, Sendable {
    /// The six digits to show. The other side's user types them there.
    public let own: String
    private let other: String
    /// The digits of the controlling end, then those of the controlled end. Spec 13.3.
    package let code: String

    package init(_ code: String, isControlling: Bool) {
        self.code = code
        let halves = (String(code.prefix(6)), String(code.dropFirst(6)))
        (own, other) = isControlling ? halves : (halves.1, halves.0)
    }

    /// Returns whether these are the digits that the other side shows. Spaces and hyphens between them are ignored.
    public func match(_ typed: String) -> Bool { Self.digits(typed) == other }

    /// Returns whether the text consists of six digits, so that it is worth comparing.
    public static func isComplete(_ typed: String) -> Bool { digits(typed) != nil }

    private static func digits(_ typed: String) -> String? {
        let digits = typed.filter { !$0.isWhitespace && $0 != "-" }
        guard digits.utf8.count == 6, digits.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 })
        else { return nil }
        return digits
    }
}
