import CLibSSL

/// The algorithms of OpenSSL, which the protocol takes for granted: a machine's configuration can leave out every one of them.
enum OpenSSLAlgorithms {
    /// Loaded at the first use.
    static let areLoaded = multipeer_load_algorithms() == 1
}

/// The contents of OpenSSL's error queue of this thread, oldest first.
///
/// The queue is per thread: clear it before a call and drain it after, in one synchronous function.
struct OpenSSLErrors {
    /// Packed codes, as ERR_get_error returns them.
    private(set) var codes: [UInt] = []

    /// Looks first: clearing an empty queue costs as much as a small record.
    static func clear() {
        _ = OpenSSLAlgorithms.areLoaded
        if ERR_peek_error() != 0 { ERR_clear_error() }
    }

    static func drain() -> OpenSSLErrors {
        var errors = OpenSSLErrors()
        while true {
            let code = ERR_get_error()
            if code == 0 { return errors }
            if errors.codes.count < 8 { errors.codes.append(code) }
        }
    }

    /// The reason of the first error that libssl itself reported.
    var sslReason: CInt? {
        codes.first { multipeer_err_lib($0) == ERR_LIB_SSL }.map { multipeer_err_reason($0) }
    }

    func contains(library: CInt, reason: CInt) -> Bool {
        codes.contains { multipeer_err_lib($0) == library && multipeer_err_reason($0) == reason }
    }

    /// Whether an algorithm is one that OpenSSL does not have, or has only if the machine's configuration says so.
    var nameUnavailableAlgorithm: Bool {
        contains(library: ERR_LIB_EVP, reason: CInt(ERR_R_UNSUPPORTED))
    }

    /// OpenSSL's own text for the first error. It contains no data of either side.
    var text: String {
        guard let code = codes.first else { return "unknown reason" }
        guard let words = unsafe ERR_reason_error_string(code) else { return "error \(code)" }
        return unsafe String(cString: words)
    }
}
