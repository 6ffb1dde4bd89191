import MultipeerSecurity

extension FuzzBody {
    /// The first bytes of a TLS connection: for any bytes, split anywhere, a later answer does not contradict an earlier one.
    package static let tlsGreeting = FuzzBody("tls-greeting") { bytes throws(BrokenPromise) in
        var settled: TLSGreeting?
        for count in 0...min(bytes.count, TLSGreeting.limit) {
            let hello = TLSGreeting(Array(bytes.prefix(count)))
            if let settled { try promise(hello == settled, "later bytes do not change the answer") }
            if hello != .incomplete { settled = hello }
        }
        try promise(
            bytes.count < TLSGreeting.limit || TLSGreeting(bytes) != .incomplete,
            "no more bytes than the limit are waited for")
        if case .offers(let names) = TLSGreeting(bytes) {
            try promise(names.allSatisfy { (1...255).contains($0.count) }, "a name has 1 to 255 bytes")
        }
    }
}
