import CLibSSL

/// How the passphrase of a file becomes a key: what this library writes, and how much work it does for a file that it
/// reads.
enum KeyDerivation {
    /// scrypt with 16 MiB, five times in a row. More memory would exceed the limit of 32 MiB that OpenSSL has by default, so
    /// that other programs could not read the file.
    static let cost: CInt = 16_384
    static let blockSize: CInt = 8
    static let parallelization: CInt = 5
    /// PBKDF2 and the derivation of PKCS#12, which has no scrypt.
    static let rounds: CInt = 600_000

    /// Returns the algorithm with which a key is encrypted: PBES2 with scrypt and AES-256. The caller owns it.
    static func algorithm() throws(SecurityFault) -> UnsafeMutablePointer<X509_ALGOR> {
        var salt = try Randomness.bytes(16)
        OpenSSLErrors.clear()
        let made = unsafe PKCS5_pbe2_set_scrypt(
            EVP_aes_256_cbc(), &salt, CInt(salt.count), nil, UInt64(cost), UInt64(blockSize),
            UInt64(parallelization))
        guard let algorithm = unsafe made else {
            throw .internal("no scrypt: \(OpenSSLErrors.drain().text)")
        }
        return unsafe algorithm
    }
}

/// Limits the time and memory that deriving keys for one file takes: a file whose author asks for hours of work, or for
/// gigabytes, is refused before any is done.
struct KeyDerivationBudget {
    /// In rounds of PBKDF2, which take about as long as a block of scrypt: some seconds.
    private var rounds: Int64 = 4_194_304

    /// The limit on scrypt's memory, 32 MiB, in blocks of 128 bytes.
    private static let mostBlocks: Int64 = 262_144

    private mutating func spend(_ count: Int64?) -> Bool {
        guard let count, count >= 0, count <= rounds else { return false }
        rounds -= count
        return true
    }

    /// Counts an algorithm that decrypts a key or certificates; returns false when it costs too much, or is not known.
    mutating func allows(_ algorithm: UnsafePointer<X509_ALGOR>?) -> Bool {
        guard let (kind, parameters) = unsafe Self.contents(of: algorithm) else { return false }
        switch unsafe OBJ_obj2nid(kind) {
        case NID_pbes2: return allowsDerivation(in: parameters)
        case NID_id_pbkdf2, NID_id_scrypt: return false
        default:
            // PBES1 and the derivation of PKCS#12: a salt, then the number of rounds.
            let read = unsafe DER.decode(parameters, { unsafe PBEPARAM_free(UnsafeMutablePointer($0)) }) {
                unsafe OpaquePointer(d2i_PBEPARAM(nil, $0, $1))
            }
            guard let read else { return false }
            let parameters = unsafe UnsafeMutablePointer<PBEPARAM>(read.pointer)
            return unsafe spend(Self.integer(parameters.pointee.iter))
        }
    }

    /// Counts `count` rounds of the derivation of PKCS#12.
    mutating func allows(rounds count: UnsafePointer<ASN1_INTEGER>?) -> Bool {
        guard let count = unsafe count else { return spend(1) }
        return unsafe spend(Self.integer(count))
    }

    /// Counts the first of two algorithms, with which both PBES2 and PBMAC1 begin.
    mutating func allowsDerivation(in parameters: [UInt8]) -> Bool {
        let read = unsafe DER.decode(parameters, { unsafe PBE2PARAM_free(UnsafeMutablePointer($0)) }) {
            unsafe OpaquePointer(d2i_PBE2PARAM(nil, $0, $1))
        }
        guard let read else { return false }
        let scheme = unsafe UnsafeMutablePointer<PBE2PARAM>(read.pointer)
        guard let (kind, inner) = unsafe Self.contents(of: scheme.pointee.keyfunc) else { return false }
        switch unsafe OBJ_obj2nid(kind) {
        case NID_id_pbkdf2:
            let read = unsafe DER.decode(inner, { unsafe PBKDF2PARAM_free(UnsafeMutablePointer($0)) }) {
                unsafe OpaquePointer(d2i_PBKDF2PARAM(nil, $0, $1))
            }
            guard let read else { return false }
            return unsafe spend(Self.integer(UnsafeMutablePointer<PBKDF2PARAM>(read.pointer).pointee.iter))
        case NID_id_scrypt:
            let read = unsafe DER.decode(inner, { unsafe SCRYPT_PARAMS_free(UnsafeMutablePointer($0)) }) {
                unsafe OpaquePointer(d2i_SCRYPT_PARAMS(nil, $0, $1))
            }
            guard let read else { return false }
            let scrypt = unsafe UnsafeMutablePointer<SCRYPT_PARAMS>(read.pointer).pointee
            let blocks = unsafe Self.product(
                Self.integer(scrypt.costParameter), Self.integer(scrypt.blockSize))
            guard let blocks, blocks <= Self.mostBlocks else { return false }
            return unsafe spend(Self.product(blocks, Self.integer(scrypt.parallelizationParameter)))
        default: return false
        }
    }

    /// Returns the kind of an algorithm, and its parameters in DER if they are a sequence.
    static func contents(of algorithm: UnsafePointer<X509_ALGOR>?) -> (OpaquePointer, [UInt8])? {
        var kind: OpaquePointer?
        var type: CInt = 0
        var value: UnsafeRawPointer?
        unsafe X509_ALGOR_get0(&kind, &type, &value, algorithm)
        guard let kind = unsafe kind else { return nil }
        guard type == V_ASN1_SEQUENCE, let value = unsafe value else { return unsafe (kind, []) }
        let string = unsafe value.assumingMemoryBound(to: ASN1_STRING.self)
        return unsafe (
            kind,
            Array(
                UnsafeBufferPointer(
                    start: ASN1_STRING_get0_data(string), count: Int(ASN1_STRING_length(string))))
        )
    }

    /// Returns nil when a factor is nil or the product is too large.
    private static func product(_ factors: Int64?...) -> Int64? {
        var product: Int64 = 1
        for factor in factors {
            guard let factor, case let (next, overflow) = product.multipliedReportingOverflow(by: factor),
                !overflow
            else { return nil }
            product = next
        }
        return product
    }

    /// Returns nil for a number that is not between 0 and 2⁶³.
    private static func integer(_ value: UnsafePointer<ASN1_INTEGER>?) -> Int64? {
        var number: Int64 = 0
        guard let value = unsafe value, unsafe ASN1_INTEGER_get_int64(&number, value) == 1, number >= 0 else {
            return nil
        }
        return number
    }
}
