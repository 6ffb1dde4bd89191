import MultipeerFraming
import MultipeerSecurity

extension SecureBytes {
    /// A copy, for callers that must pass the bytes on.
    var bytes: [UInt8] { withBytes { [UInt8](copying: $0) } }
}
