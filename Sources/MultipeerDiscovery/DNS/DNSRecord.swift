/// A question. The class is IN or ANY: other questions are dropped in decoding. RFC 6762, 5.4.
package struct DNSQuestion: Hashable, Sendable {
    package var name: DNSName
    package var type: DNSType
    /// Whether the requester prefers a unicast response: the top bit of the class.
    package var wantsUnicast: Bool

    package init(_ name: DNSName, _ type: DNSType, wantsUnicast: Bool = false) {
        self.name = name
        self.type = type
        self.wantsUnicast = wantsUnicast
    }
}

/// One resource record of class IN. RFC 1035, 3.2.1; RFC 6762, 10.2.
package struct DNSRecord: Hashable, Sendable {
    package var name: DNSName
    /// The cache-flush bit: the sender knows all records of this name and type. The top bit of the class.
    package var isCacheFlush: Bool
    /// How long the record may be kept, in seconds; 0 is a goodbye.
    package var ttl: UInt32
    package var data: DNSData

    package init(_ name: DNSName, isCacheFlush: Bool = false, ttl: UInt32, _ data: DNSData) {
        self.name = name
        self.isCacheFlush = isCacheFlush
        self.ttl = ttl
        self.data = data
    }

    package var type: DNSType { data.type }
}
