import CLibSSL
package import MultipeerCore

extension Identity {
    /// Encodes a request (PKCS#10) for a certificate of this identity's key that names a peer, for an authority to sign.
    ///
    /// - Parameters:
    ///   - commonName: the peer's display name, at most 64 characters.
    ///   - uid: the peer's uid, which the certificate is to bind; nil for a certificate that binds the name alone.
    /// - Returns: the request as PEM text. It asks for the purposes that `TrustPolicy.certificateAuthority` requires.
    /// - Throws: ``SecurityFault`` when OpenSSL fails, or the name is too long.
    package func encodedRequest(commonName: String, uid: UID?) throws(SecurityFault) -> [UInt8] {
        OpenSSLErrors.clear()
        guard let memory = MemoryBIO(), let request = unsafe OwnedPointer(X509_REQ_new(), X509_REQ_free)
        else {
            throw .internal("no memory for a request")
        }
        let key = objects.sharedKey
        let name = Array(commonName.utf8)
        let isEdwards = unsafe [EVP_PKEY_ED25519, EVP_PKEY_ED448].contains(EVP_PKEY_get_base_id(key.pointer))
        let isDone =
            unsafe X509_REQ_set_version(request.pointer, 0) == 1
            && X509_NAME_add_entry_by_txt(
                X509_REQ_get_subject_name(request.pointer), "CN", MBSTRING_FLAG | 0, name, CInt(name.count),
                -1, 0)
                == 1
            && X509_REQ_set_pubkey(request.pointer, key.pointer) == 1
            && Self.addExtensions(to: request.pointer, uid)
            && X509_REQ_sign(request.pointer, key.pointer, isEdwards ? nil : EVP_sha256()) > 0
            && PEM_write_bio_X509_REQ(memory.bio, request.pointer) == 1
        guard isDone else { throw .internal("cannot create a request: \(OpenSSLErrors.drain().text)") }
        return memory.contents()
    }

    private static func addExtensions(to request: OpaquePointer, _ uid: UID?) -> Bool {
        guard let list = unsafe OPENSSL_sk_new_null() else { return false }
        defer { unsafe OPENSSL_sk_pop_free(list) { unsafe X509_EXTENSION_free(OpaquePointer($0)) } }
        var extensions = [
            (NID_basic_constraints, "critical,CA:FALSE"), (NID_key_usage, "critical,digitalSignature"),
            (NID_ext_key_usage, "clientAuth,serverAuth"),
        ]
        if let uid { extensions.append((NID_subject_alt_name, "URI:\(uid.urn)")) }
        for (kind, value) in extensions {
            guard let one = unsafe X509V3_EXT_conf_nid(nil, nil, kind, value) else { return false }
            guard unsafe OPENSSL_sk_push(list, UnsafeRawPointer(one)) > 0 else {
                unsafe X509_EXTENSION_free(one)
                return false
            }
        }
        return unsafe X509_REQ_add_extensions(request, list) == 1
    }
}
