public import Foundation
import MultipeerSecurity
package import MultipeerTransport

/// Why a call of this framework did not do what it was asked; all of its errors are of this type.
///
/// `userInfo` has the text for people under `NSLocalizedDescriptionKey`, and the native error, a `MultipeerError`, under
/// `NSUnderlyingErrorKey`.
public struct MCError: _BridgedStoredNSError, @unchecked Sendable {
    // Unchecked: an `NSError` cannot be changed, and what this module puts into one is `Sendable`.

    /// What kind of failure it was.
    public enum Code: Int, _ErrorCodeProtocol, Sendable {
        /// The type of errors with these codes.
        public typealias _ErrorType = MCError

        /// Something else; the text says what.
        case unknown = 0
        /// The peer is not connected, or not any more.
        case notConnected = 1
        /// An argument is outside its range.
        case invalidParameter = 2
        /// It cannot be done with this kind of argument.
        case unsupported = 3
        /// The other side has not answered in time.
        case timedOut = 4
        /// Somebody, here or on the other side, called it off.
        case cancelled = 5
        /// There is no room for it now, or the system does not serve.
        case unavailable = 6
    }

    /// The error in the form of Foundation.
    public let _nsError: NSError

    /// Reads Foundation's form, which is of this domain.
    public init(_nsError error: NSError) { _nsError = error }

    /// The domain of these errors.
    public static var _nsErrorDomain: String { MCErrorDomain }
    /// The domain of these errors.
    public static var errorDomain: String { MCErrorDomain }

    /// Something else; the text says what.
    public static var unknown: MCError.Code { .unknown }
    /// The peer is not connected, or not any more.
    public static var notConnected: MCError.Code { .notConnected }
    /// An argument is outside its range.
    public static var invalidParameter: MCError.Code { .invalidParameter }
    /// It cannot be done with this kind of argument.
    public static var unsupported: MCError.Code { .unsupported }
    /// The other side has not answered in time.
    public static var timedOut: MCError.Code { .timedOut }
    /// Somebody, here or on the other side, called it off.
    public static var cancelled: MCError.Code { .cancelled }
    /// There is no room for it now, or the system does not serve.
    public static var unavailable: MCError.Code { .unavailable }
}

extension MCError: Hashable {
    /// Hashes the code. Foundation's own hash of an error does not return on Linux.
    public func hash(into hasher: inout Hasher) { hasher.combine(_nsError.code) }
}

extension MCError {
    /// With a text for people, in one line.
    init(_ code: Code, _ text: String) {
        self.init(code, userInfo: [NSLocalizedDescriptionKey: text])
    }

    /// The native error in Apple's words: the only place that decides which.
    package init(_ error: MultipeerError) {
        let code: Code =
            switch error.code {
            case .notConnected, .ended: .notConnected
            case .invalidArgument, .tooLarge, .invalidConnectionData: .invalidParameter
            case .timedOut: .timedOut
            case .cancelled, .declined: .cancelled
            case .busy, .noSpace, .discovery, .system, .full: .unavailable
            default: .unknown
            }
        self.init(
            code,
            userInfo: [NSLocalizedDescriptionKey: error.description, NSUnderlyingErrorKey: error])
    }

    /// What is wrong with a file or a name.
    static func checking<Value>(_ body: () throws(SecurityFault) -> Value) throws -> Value {
        do throws(SecurityFault) {
            return try body()
        } catch {
            throw MCError(
                .invalidParameter,
                userInfo: [NSLocalizedDescriptionKey: "\(error)", NSUnderlyingErrorKey: error])
        }
    }
}
