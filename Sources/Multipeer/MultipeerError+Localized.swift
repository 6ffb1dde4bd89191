#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif
public import MultipeerTransport

extension MultipeerError: LocalizedError {
    /// The description: one line, in lower case, in English.
    public var errorDescription: String? { description }
}
