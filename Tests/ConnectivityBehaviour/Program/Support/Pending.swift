/// The defect of this library because of which a program fails.
package enum Pending: Sendable {
    /// The program fails every time.
    case always(String)
    /// The program fails in some of its runs.
    case sometimes(String)
}

extension Pending: ExpressibleByStringLiteral {
    package init(stringLiteral defect: String) { self = .always(defect) }
}
