public import MultipeerFoundation
public import MultipeerTransport

extension MultipeerError: LocalizedError {
    /// The description: one line, in lower case, in English.
    public var errorDescription: String? { description }
}
