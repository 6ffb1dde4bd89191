extension DNSMessage {
    /// The bytes of the message; the same message has the same bytes always.
    ///
    /// `compressing` false writes every name whole. `legacy` true is for conventional resolvers: it compresses the names
    /// that RFC 1035 knows and leaves those within SRV and NSEC whole (RFC 6762, 6.7). Throws when the message is too long
    /// or a record's data has the wrong length.
    package func encoded(compressing: Bool = true, legacy: Bool = false) throws(DNSFault) -> [UInt8] {
        throw .truncated
    }

    /// How many bytes `encoded()` has, without its limits.
    package var encodedCount: Int { 12 }
}

extension DNSQuestion {
    /// The size in an uncompressed message: no encoding needs more.
    package var encodedCount: Int { name.encodedCount + 4 }
}

extension DNSRecord {
    /// The size in an uncompressed message: no encoding needs more.
    package var encodedCount: Int { name.encodedCount + 10 + data.bytes.count }
}

extension DNSData {
    /// The data without compression: what RFC 6762, 8.2 compares when two peers probe for one name.
    package var bytes: [UInt8] { [] }
}
