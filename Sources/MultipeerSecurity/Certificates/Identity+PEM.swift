import CLibSSL

extension Identity {
    /// Reads the certificates and the private key of a PEM text, in any order.
    ///
    /// - Parameters:
    ///   - pem: the text; anything that is neither a certificate nor a key is skipped.
    ///   - passphrase: opens an encrypted key.
    /// - Throws: ``SecurityFault`` that describes what is wrong with the text.
    package init(parsingPEM pem: [UInt8], passphrase: String? = nil) throws(SecurityFault) {
        guard pem.count <= Self.largestFile else { throw .local(.identityTooLarge) }
        let certificates = try Self.certificates(inPEM: pem)
        guard !certificates.isEmpty else { throw .local(.noCertificateInFile) }
        let key = try Self.privateKey(inPEM: pem, passphrase: passphrase)
        try self.init(key, certificates)
    }

    /// Encodes the certificates and the private key as PEM text.
    ///
    /// - Parameter passphrase: encrypts the key with AES-256 and scrypt; without one the key is not encrypted.
    /// - Returns: the chain, leaf first, then the key in PKCS#8.
    /// - Throws: ``SecurityFault`` when OpenSSL fails.
    package func encodedPEM(passphrase: String? = nil) throws(SecurityFault) -> [UInt8] {
        OpenSSLErrors.clear()
        guard let memory = MemoryBIO() else { throw .internal("no memory for a key") }
        let key = objects.sharedKey
        if let passphrase {
            let encrypted = try Self.encrypt(key, with: passphrase)
            guard unsafe PEM_write_bio_PKCS8(memory.bio, encrypted.pointer) == 1 else {
                throw .internal("cannot write a key: \(OpenSSLErrors.drain().text)")
            }
        } else if unsafe PEM_write_bio_PKCS8PrivateKey(memory.bio, key.pointer, nil, nil, 0, nil, nil) != 1 {
            throw .internal("cannot write a key: \(OpenSSLErrors.drain().text)")
        }
        return chain.flatMap(\.pem) + memory.contents()
    }

    /// Encrypts a key in the form of PKCS#8.
    private static func encrypt(
        _ key: borrowing OwnedPointer, with passphrase: String
    ) throws(SecurityFault) -> OwnedPointer {
        let algorithm = try unsafe KeyDerivation.algorithm()
        let info = unsafe OwnedPointer(EVP_PKEY2PKCS8(key.pointer), PKCS8_PRIV_KEY_INFO_free)
        var made: OpaquePointer?
        if let info {
            unsafe made = PKCS8_set0_pbe(passphrase, CInt(passphrase.utf8.count), info.pointer, algorithm)
        }
        guard let encrypted = unsafe OwnedPointer(made, X509_SIG_free) else {
            // It takes ownership of the algorithm only if it succeeds.
            unsafe X509_ALGOR_free(algorithm)
            throw .internal("cannot encrypt a key: \(OpenSSLErrors.drain().text)")
        }
        return encrypted
    }

    /// The maximum size of a text or archive that is read.
    static let largestFile = 131_072

    /// Returns the certificates of a PEM text, in their order; anything else is skipped.
    package static func certificates(
        inPEM pem: [UInt8]
    ) throws(SecurityFault) -> [Certificate] {
        OpenSSLErrors.clear()
        var found: [Certificate?] = []
        unsafe pem.withUnsafeBytes { text in
            guard let bio = unsafe OwnedPointer(BIO_new_mem_buf(text.baseAddress, CInt(text.count)), freeBIO)
            else {
                return
            }
            while let one = unsafe PEM_read_bio_X509(bio.pointer, nil, Passphrase.refuse, nil) {
                unsafe found.append(Certificate(one))
                unsafe X509_free(one)
            }
        }
        let errors = OpenSSLErrors.drain()
        // The loop ends when no further block begins; any other error is a damaged block.
        guard errors.contains(library: ERR_LIB_PEM, reason: PEM_R_NO_START_LINE), !found.contains(nil) else {
            throw .local(.unreadableIdentity(errors.text))
        }
        return found.compactMap { $0 }
    }

    /// Returns whether a block of some kind of private key begins or ends in the text.
    private static func hasKey(_ pem: [UInt8]) -> Bool {
        let marker = Array("PRIVATE KEY-----".utf8)
        return pem.indices.contains { pem[$0...].starts(with: marker) }
    }

    static let tooMuchWork = "deriving its key from the passphrase takes too much time or memory"

    /// Returns whether no encrypted key in the text takes too long to decrypt. The older forms that a PEM header
    /// describes have one round.
    private static func isAffordable(_ pem: [UInt8]) -> Bool {
        OpenSSLErrors.clear()
        defer { OpenSSLErrors.clear() }
        var budget = KeyDerivationBudget()
        return unsafe pem.withUnsafeBytes { text in
            guard let bio = unsafe OwnedPointer(BIO_new_mem_buf(text.baseAddress, CInt(text.count)), freeBIO)
            else { return false }
            while let encrypted = unsafe OwnedPointer(
                PEM_read_bio_PKCS8(bio.pointer, nil, Passphrase.refuse, nil), X509_SIG_free)
            {
                var algorithm: UnsafePointer<X509_ALGOR>?
                unsafe X509_SIG_get0(encrypted.pointer, &algorithm, nil)
                guard unsafe budget.allows(algorithm) else { return false }
            }
            return true
        }
    }

    /// Returns whether the header of an encrypted key in the older form names a cipher that OpenSSL does not have here. The decoder's
    /// errors do not say so.
    private static func namesUnavailableCipher(_ pem: [UInt8]) -> Bool {
        let marker = Array("DEK-Info: ".utf8)
        guard let start = pem.indices.first(where: { pem[$0...].starts(with: marker) }) else { return false }
        let name = pem[(start + marker.count)...].prefix { $0 != UInt8(ascii: ",") && $0 > 0x20 }
        OpenSSLErrors.clear()
        defer { OpenSSLErrors.clear() }
        let cipher = unsafe EVP_CIPHER_fetch(nil, String(decoding: name.prefix(64), as: UTF8.self), nil)
        guard let cipher = unsafe cipher else { return true }
        unsafe EVP_CIPHER_free(cipher)
        return false
    }

    private static func privateKey(inPEM pem: [UInt8], passphrase: String?) throws(SecurityFault)
        -> OwnedPointer
    {
        guard isAffordable(pem) else { throw .local(.unreadableIdentity(tooMuchWork)) }
        OpenSSLErrors.clear()
        let secret = Passphrase(passphrase)
        let key = unsafe pem.withUnsafeBytes { text -> OpaquePointer? in
            guard let bio = unsafe OwnedPointer(BIO_new_mem_buf(text.baseAddress, CInt(text.count)), freeBIO)
            else {
                return nil
            }
            return unsafe withExtendedLifetime(secret) {
                unsafe PEM_read_bio_PrivateKey(
                    bio.pointer, nil, Passphrase.answer, Unmanaged.passUnretained(secret).toOpaque())
            }
        }
        let errors = OpenSSLErrors.drain()
        if let key = unsafe OwnedPointer(key, EVP_PKEY_free) { return key }
        let isOld = errors.nameUnavailableAlgorithm || namesUnavailableCipher(pem)
        if secret.wasAsked, isOld, passphrase != nil { throw .local(.oldEncryption(.key)) }
        if secret.wasAsked { throw .local(passphrase == nil ? .passphraseNeeded : .wrongPassphrase) }
        throw .local(hasKey(pem) ? .unreadableIdentity(errors.text) : .noKeyInFile)
    }
}

/// Supplies the passphrase when OpenSSL asks for it; without it, OpenSSL would prompt on the terminal.
private final class Passphrase {
    private let bytes: [UInt8]?
    private(set) var wasAsked = false

    init(_ text: String?) { bytes = text.map { Array($0.utf8) } }

    typealias Callback =
        @convention(c) (
            UnsafeMutablePointer<CChar>?, CInt, CInt, UnsafeMutableRawPointer?
        ) -> CInt

    static let answer: Callback = { buffer, capacity, _, data in
        guard let buffer = unsafe buffer, let data = unsafe data else { return -1 }
        let passphrase = unsafe Unmanaged<Passphrase>.fromOpaque(data).takeUnretainedValue()
        passphrase.wasAsked = true
        guard let bytes = passphrase.bytes, bytes.count <= capacity else { return -1 }
        for (index, byte) in bytes.enumerated() { unsafe buffer[index] = CChar(bitPattern: byte) }
        return CInt(bytes.count)
    }

    static let refuse: Callback = { _, _, _, _ in -1 }
}

private func freeBIO(_ bio: OpaquePointer?) { unsafe BIO_free_all(bio) }
