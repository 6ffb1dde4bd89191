import CLibSSL

extension OpenSSLErrors {
    /// Returns which side caused a failed TLS call: maps libssl's reasons to faults.
    func fault(verification: Int, isEstablished: Bool) -> SecurityFault {
        guard let reason = sslReason else {
            return isEstablished ? .peer(.badRecord) : .peer(.handshakeFailed(text))
        }
        // Alerts that were received are numbered from 1000.
        if reason >= SSL_AD_REASON_OFFSET, let alert = UInt8(exactly: reason - SSL_AD_REASON_OFFSET) {
            return .peer(.alert(SecurityFault.Alert(rawValue: alert)))
        }
        if reason == SSL_R_CERTIFICATE_VERIFY_FAILED { return .peer(Self.violation(verification)) }
        if let violation = Self.violations[reason] { return .peer(violation) }
        if Self.ours.contains(reason) { return .internal(text) }
        return .peer(isEstablished ? .badRecord : .handshakeFailed(text))
    }

    private static func violation(_ verification: Int) -> SecurityFault.PeerViolation {
        switch CInt(truncatingIfNeeded: verification) {
        case X509_V_ERR_APPLICATION_VERIFICATION: .noCommonProtocol
        case X509_V_ERR_CERT_CHAIN_TOO_LONG: .chainTooLong
        case X509_V_ERR_CERT_UNTRUSTED: .unexpectedCertificate
        case X509_V_ERR_EE_KEY_TOO_SMALL: .weakKey
        case X509_V_ERR_CERT_REJECTED: .foreignKey
        default: .malformedCertificate
        }
    }

    private static let violations: [CInt: SecurityFault.PeerViolation] = [
        SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE: .noCertificate,
        SSL_R_EXCESSIVE_MESSAGE_SIZE: .chainTooLong,
        SSL_R_NO_APPLICATION_PROTOCOL: .noCommonProtocol,
        SSL_R_CALLBACK_FAILED: .noCommonProtocol,  // The callback for the ClientHello.
        SSL_R_UNSUPPORTED_PROTOCOL: .wrongVersion,
        SSL_R_WRONG_SSL_VERSION: .wrongVersion,
        SSL_R_VERSION_TOO_LOW: .wrongVersion,
        SSL_R_VERSION_TOO_HIGH: .wrongVersion,
        SSL_R_BAD_PROTOCOL_VERSION_NUMBER: .wrongVersion,
        SSL_R_WRONG_VERSION_NUMBER: .badRecord,
        SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC: .badRecord,
        SSL_R_PACKET_LENGTH_TOO_LONG: .badRecord,
        SSL_R_ENCRYPTED_LENGTH_TOO_LONG: .badRecord,
        SSL_R_DATA_LENGTH_TOO_LONG: .badRecord,
        SSL_R_BAD_RECORD_TYPE: .badRecord,
        SSL_R_HTTP_REQUEST: .notTLS,
        SSL_R_HTTPS_PROXY_REQUEST: .notTLS,
    ]

    /// Reasons that no received data can cause.
    private static let ours: Set<CInt> = [
        SSL_R_UNINITIALIZED, SSL_R_PROTOCOL_IS_SHUTDOWN, SSL_R_NO_CERTIFICATE_ASSIGNED,
        SSL_R_NO_PRIVATE_KEY_ASSIGNED,
    ]
}
