import MultipeerFraming
import MultipeerSecurity

extension SecureBytes {
    /// A copy, for those who must hand the bytes on.
    var bytes: [UInt8] { withBytes { [UInt8](copying: $0) } }
}
