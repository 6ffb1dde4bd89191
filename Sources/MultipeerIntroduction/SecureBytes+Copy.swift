import MultipeerSecurity

extension SecureBytes {
    /// A copy, for those who must hand the bytes on.
    var bytes: [UInt8] { withBytes { bytes in bytes.indices.map { bytes[$0] } } }
}
