extension DNSMessage {
    /// The bytes of the message; the same message has the same bytes always.
    ///
    /// `compressing` false writes every name whole. `legacy` true is for conventional resolvers: it compresses the names
    /// that RFC 1035 knows and leaves those within SRV and NSEC whole (RFC 6762, 18.14). Throws when the message is too
    /// long, or a record's data is not what its type wants.
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

    /// How many bytes `encoded()` has, or would have were it not too long; 0 for what cannot be written at all.
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
    /// The size in an uncompressed message: no encoding needs more.
    package var encodedCount: Int { name.encodedCount + 4 }
}

extension DNSRecord {
    /// The size in an uncompressed message: no encoding needs more.
    package var encodedCount: Int { name.encodedCount + 10 + data.bytes.count }
}

extension DNSData {
    /// The data without compression: what is compared when two peers probe for one name (RFC 6762, 8.2).
    package var bytes: [UInt8] {
        var writer = DNSWriter(isCompressing: false, isLegacy: false)
        do { try writer.append(self) } catch { return [] }
        return writer.bytes
    }
}
