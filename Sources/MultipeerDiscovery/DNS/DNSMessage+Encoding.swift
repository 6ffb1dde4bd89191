extension DNSMessage {
    /// Encodes the message; equal messages always have equal bytes.
    ///
    /// `compressing` false writes every name in full. `legacy` true is for conventional resolvers: it compresses the
    /// names that RFC 1035 defines and writes those within SRV and NSEC in full (RFC 6762, 18.14). Throws when the
    /// message is too long, or a record's data does not match its type.
    package func encoded(compressing: Bool = true, legacy: Bool = false) throws(DNSFault) -> [UInt8] {
        guard recordCount <= DNSMessage.mostRecords else {  // [dns.limit]
            throw .tooManyRecords(recordCount)
        }
        var writer = DNSWriter(isCompressing: compressing, isLegacy: legacy)
        try write(to: &writer)
        guard writer.bytes.count <= DNSMessage.longest else {  // [dns.limit]
            throw .tooLong(writer.bytes.count)
        }
        return writer.bytes
    }

    /// The size of `encoded()` in bytes, even if it is too long; 0 when the message cannot be encoded at all.
    package var encodedCount: Int {
        var writer = DNSWriter(isCompressing: true, isLegacy: false)
        do { try write(to: &writer) } catch { return 0 }
        return writer.bytes.count
    }

    private func write(to writer: inout DNSWriter) throws(DNSFault) {
        writer.append(id)
        writer.append(flags)
        for count in [questions.count, answers.count, authorities.count, additionals.count] {
            writer.append(UInt16(clamping: count))
        }
        for question in questions { writer.append(question) }
        for record in answers { try writer.append(record) }
        for record in authorities { try writer.append(record) }
        for record in additionals { try writer.append(record) }
    }
}

extension DNSQuestion {
    /// The size in an uncompressed message, the maximum of all encodings.
    package var encodedCount: Int { name.encodedCount + 4 }
}

extension DNSRecord {
    /// The size in an uncompressed message, the maximum of all encodings.
    package var encodedCount: Int { name.encodedCount + 10 + data.bytes.count }
}

extension DNSData {
    /// The data without compression, as compared when two peers probe for the same name (RFC 6762, 8.2).
    package var bytes: [UInt8] {
        var writer = DNSWriter(isCompressing: false, isLegacy: false)
        do { try writer.append(self) } catch { return [] }
        return writer.bytes
    }
}
