package import MultipeerCore
import MultipeerFraming
package import MultipeerSecurity

/// A code as the two ends of an invitation use it: its number, and the password that its words make. Spec 13.8.
package struct CodeProof: Equatable, Sendable {
    package let number: UInt16
    private let password: SecureBytes

    /// Derives the password, which takes about 10 ms on purpose. Throws when libcrypto fails.
    package init(_ code: InvitationCode) throws(SecurityFault) {
        number = UInt16(clamping: code.number)
        password = try SPAKE2.password(  // [code.password]
            Array(code.phrase.utf8), salt: CodeProof.label + Array("\(code.number)".utf8))
    }

    /// Starts a run of the exchange on one connection.
    func exchange(as role: SPAKE2.Role, _ secrets: CodeSecrets) throws(SecurityFault) -> SPAKE2 {
        try SPAKE2(as: role, password: password, scalar: secrets.scalar)
    }

    private static let label = Array("MPC/1 code".utf8)
    private static let ends = SPAKE2.Identities(a: Array("inviter".utf8), b: Array("invitee".utf8))

    /// Returns what both ends of the connection have to confirm.
    static func keys(
        of exchange: SPAKE2, with theirs: [UInt8], _ secrets: CodeSecrets
    ) throws(SecurityFault) -> SPAKE2.Keys {
        let bound = label + secrets.binding  // [code.binding]
        return try exchange.keys(with: theirs, ends, additionalData: bound)
    }
}

/// What one connection adds to the exchange: a random number, and what no other TLS connection exports.
package struct CodeSecrets: Equatable, Sendable {
    fileprivate let scalar: SecureBytes
    fileprivate let binding: [UInt8]

    /// Creates the secrets. `scalar`: 48 random bytes that were never used; `binding`: the 32 bytes that the connection
    /// exports under the label.
    package init(scalar: SecureBytes, binding: [UInt8]) {
        self.scalar = scalar
        self.binding = binding
    }

    package static let scalarByteCount = 48
    package static let exporterLabel = "EXPORTER-mpc1-code"  // [code.binding]
    package static let bindingByteCount = 32
}

extension SecurityFault {
    /// The code with which an end closes a connection on which the exchange could not be continued.
    var exchangeCloseCode: CloseCode {
        if case .peer = self { .protocolError } else { .internal }  // [code.point]
    }
}
