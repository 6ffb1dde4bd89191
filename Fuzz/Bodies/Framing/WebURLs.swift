import MultipeerFetch

extension FuzzBody {
    /// The URL of a document, from a user, and in further lines what servers redirect to.
    package static let webURL = FuzzBody("web-url") { bytes throws(BrokenPromise) in
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        guard var url = lines.first.flatMap(WebURL.init) else { return }
        try check(url)
        for reference in lines.dropFirst().prefix(20) {
            guard let next = url.resolving(reference) else { continue }
            try check(next)
            let isOfServer = WebURL.scheme(of: reference) == nil && !reference.hasPrefix("//")
            let stays =
                next.scheme == url.scheme && next.host == url.host
                && next.effectivePort == url.effectivePort
            try promise(!isOfServer || stays, "a reference to a path stays at its server: \(next.text)")
            url = next
        }
    }

    /// Checks what a request relies on.
    private static func check(_ url: WebURL) throws(BrokenPromise) {
        try promise(WebURL(url.text) == url, "a URL that was written is read unchanged: \(url.text)")
        // These would end a header of the request, or the request.
        try promise(
            url.text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7f }, "no space and no control character")
        try promise(!url.host.isEmpty && !url.host.contains { "/?#@\\%".contains($0) }, "a host, alone")
        try promise(url.effectivePort > 0, "a port")
        try promise(!url.label.isEmpty, "a name of the document")
    }
}
