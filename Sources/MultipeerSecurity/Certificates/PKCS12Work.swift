import CLibSSL

/// How much work it takes to read a PKCS#12 archive with the right passphrase.
enum PKCS12Work {
    /// Returns whether the archive does not take too long to read. What is encrypted inside another encrypted part cannot be
    /// seen in advance; only an author who knows the passphrase could put it there.
    static func isAffordable(_ archive: borrowing OwnedPointer) -> Bool {
        OpenSSLErrors.clear()
        defer { OpenSSLErrors.clear() }
        var budget = KeyDerivationBudget()
        guard allowsMAC(archive, &budget) else { return false }
        // An archive without parts is found to be damaged when it is read.
        guard let parts = unsafe PKCS12_unpack_authsafes(archive.pointer) else { return true }
        defer {
            unsafe OPENSSL_sk_pop_free(parts) { unsafe PKCS7_free($0?.assumingMemoryBound(to: PKCS7.self)) }
        }
        return unsafe (0..<max(0, OPENSSL_sk_num(parts))).allSatisfy { index in
            unsafe allows(OPENSSL_sk_value(parts, index)?.assumingMemoryBound(to: PKCS7.self), &budget)
        }
    }

    /// The code is computed twice: to tell a wrong passphrase from a damaged archive, and by OpenSSL's parser.
    private static func allowsMAC(_ archive: borrowing OwnedPointer, _ budget: inout KeyDerivationBudget)
        -> Bool
    {
        guard unsafe PKCS12_mac_present(archive.pointer) == 1 else { return true }
        var algorithm: UnsafePointer<X509_ALGOR>?
        var rounds: UnsafePointer<ASN1_INTEGER>?
        unsafe PKCS12_get0_mac(nil, &algorithm, nil, &rounds, archive.pointer)
        guard let (kind, parameters) = unsafe KeyDerivationBudget.contents(of: algorithm) else {
            return false
        }
        if unsafe isPBMAC1(kind) {
            return budget.allowsDerivation(in: parameters) && budget.allowsDerivation(in: parameters)
        }
        return unsafe budget.allows(rounds: rounds) && budget.allows(rounds: rounds)
    }

    /// RFC 9579, which OpenSSL reads since version 3.4.
    private static func isPBMAC1(_ kind: OpaquePointer) -> Bool {
        var text = [CChar](repeating: 0, count: 64)
        let count = unsafe Int(OBJ_obj2txt(&text, CInt(text.count), kind, 1))
        return text.prefix(max(0, count)).map { UInt8(bitPattern: $0) } == Array("1.2.840.113549.1.5.14".utf8)
    }

    private static func allows(_ part: UnsafeMutablePointer<PKCS7>?, _ budget: inout KeyDerivationBudget)
        -> Bool
    {
        guard let part = unsafe part else { return true }
        switch unsafe OBJ_obj2nid(part.pointee.type) {
        case NID_pkcs7_encrypted:
            guard let encrypted = unsafe part.pointee.d.encrypted,
                let data = unsafe encrypted.pointee.enc_data
            else { return true }
            return unsafe budget.allows(data.pointee.algorithm)
        case NID_pkcs7_data:
            guard let bags = unsafe PKCS12_unpack_p7data(part) else { return true }
            defer { unsafe OPENSSL_sk_pop_free(bags) { unsafe PKCS12_SAFEBAG_free(OpaquePointer($0)) } }
            return unsafe allows(bags: bags, &budget, depth: 0)
        default: return true
        }
    }

    private static func allows(
        bags: OpaquePointer?, _ budget: inout KeyDerivationBudget, depth: Int
    ) -> Bool {
        guard depth < 4 else { return false }
        return unsafe (0..<max(0, OPENSSL_sk_num(bags))).allSatisfy { index in
            let bag = unsafe OpaquePointer(OPENSSL_sk_value(bags, index))
            switch unsafe PKCS12_SAFEBAG_get_nid(bag) {
            case NID_pkcs8ShroudedKeyBag:
                var algorithm: UnsafePointer<X509_ALGOR>?
                unsafe X509_SIG_get0(PKCS12_SAFEBAG_get0_pkcs8(bag), &algorithm, nil)
                return unsafe budget.allows(algorithm)
            case NID_safeContentsBag:
                return unsafe allows(bags: PKCS12_SAFEBAG_get0_safes(bag), &budget, depth: depth + 1)
            default: return true
            }
        }
    }
}
