import MultipeerTransport

extension FuzzBody {
    /// The kernel's messages about its interfaces: for any bytes the parser ends, and its result is within its limits.
    package static let netlink = FuzzBody("netlink") { bytes throws(BrokenPromise) in
        let messages = NetlinkMessage.read(bytes.span)
        try promise(messages.count <= bytes.count / 16, "a message has at least 16 bytes")
        for message in messages {
            switch message {
            case .link(let link): try promise(!link.name.utf8.contains(0), "a name ends at the first zero")
            case .address(let address), .addressGone(let address):
                let bits = 8 * address.host.bytes.count
                try promise(Int(address.prefix) <= bits, "a prefix is no longer than its address")
            case .failed(let code): try promise(code != 0, "a failure has a code")
            case .linkGone, .done: break
            }
        }
        try promise(
            NetlinkMessage.read((bytes + [1]).span).starts(with: messages),
            "later bytes do not change earlier messages")
        for kind in [UInt16(18), 22] {
            let request = NetlinkMessage.request(kind)
            try promise(
                request.count == 32 && NetlinkMessage.read(request.span).isEmpty,
                "a request is not parsed as an answer")
        }
    }
}
