public import Foundation
import MultipeerSecurity
package import MultipeerTransport

/// The error that the calls of this framework throw or pass.
///
/// `userInfo` has the text for people under `NSLocalizedDescriptionKey`, and the native error, a `MultipeerError`, under
/// `NSUnderlyingErrorKey`.
public struct MCError: _BridgedStoredNSError, @unchecked Sendable {
    // Unchecked: an `NSError` cannot be changed, and what this module puts into one is `Sendable`.

    /// The kind of failure.
    public enum Code: Int, _ErrorCodeProtocol, Sendable {
        /// The type of errors with these codes.
        public typealias _ErrorType = MCError

        /// Another error; the text describes it.
        case unknown = 0
        /// The peer is not, or no longer, connected.
        case notConnected = 1
        /// An argument is outside its range.
        case invalidParameter = 2
        /// The operation does not support this kind of argument.
        case unsupported = 3
        /// The other side has not responded in time.
        case timedOut = 4
        /// Cancelled on this or the other side.
        case cancelled = 5
        /// There is no room for it now, or a system resource is not usable.
        case unavailable = 6
    }

    /// The error as a Foundation error.
    public let _nsError: NSError

    /// Creates an error from Foundation's form, which has this domain.
    public init(_nsError error: NSError) { _nsError = error }

    /// The domain of these errors.
    public static var _nsErrorDomain: String { MCErrorDomain }
    /// The domain of these errors.
    public static var errorDomain: String { MCErrorDomain }

    /// Another error; the text describes it.
    public static var unknown: MCError.Code { .unknown }
    /// The peer is not, or no longer, connected.
    public static var notConnected: MCError.Code { .notConnected }
    /// An argument is outside its range.
    public static var invalidParameter: MCError.Code { .invalidParameter }
    /// The operation does not support this kind of argument.
    public static var unsupported: MCError.Code { .unsupported }
    /// The other side has not responded in time.
    public static var timedOut: MCError.Code { .timedOut }
    /// Cancelled on this or the other side.
    public static var cancelled: MCError.Code { .cancelled }
    /// There is no room for it now, or a system resource is not usable.
    public static var unavailable: MCError.Code { .unavailable }
}

extension MCError: Hashable {
    /// Hashes the code. Foundation's own hash of an error does not return on Linux.
    public func hash(into hasher: inout Hasher) { hasher.combine(_nsError.code) }
}

extension MCError {
    /// Creates an error with a text for people, in one line.
    init(_ code: Code, _ text: String) {
        self.init(code, userInfo: [NSLocalizedDescriptionKey: text])
    }

    /// Translates the native error to Apple's codes: the only place that decides which.
    package init(_ error: MultipeerError) {
        let code: Code =
            switch error.code {
            case .notConnected, .ended: .notConnected
            case .invalidArgument, .tooLarge, .invalidConnectionData: .invalidParameter
            case .timedOut: .timedOut
            case .cancelled, .declined: .cancelled
            case .busy, .noSpace, .tooManyFiles, .discovery, .system, .full: .unavailable
            default: .unknown
            }
        self.init(
            code,
            userInfo: [NSLocalizedDescriptionKey: error.description, NSUnderlyingErrorKey: error])
    }

    /// Translates the fault of a file or a name.
    static func checking<Value>(_ body: () throws(SecurityFault) -> Value) throws -> Value {
        do throws(SecurityFault) {
            return try body()
        } catch {
            throw MCError(
                .invalidParameter,
                userInfo: [
                    NSLocalizedDescriptionKey: error.description,
                    NSUnderlyingErrorKey: MultipeerError(error),
                ])
        }
    }
}
