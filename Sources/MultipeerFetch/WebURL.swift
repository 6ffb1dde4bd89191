import MultipeerCore

/// An http or https URL, as far as fetching a document needs it. RFC 3986.
///
/// Foundation's type would bring Foundation into programs that need nothing else of it. What is sent is made from the parts here, so
/// the server that was checked is the one that is reached, whatever another parser takes for the host.
package struct WebURL: Equatable, Sendable {
    package let isSecure: Bool
    /// The name and password before the host, percent-encoded.
    private let user: String?
    /// As it is written: a name, or an address, in brackets if it is IPv6.
    package let host: String
    /// Nil for that of the scheme.
    package let port: UInt16?
    /// Percent-encoded; empty or with a slash at its beginning.
    private let path: String
    /// Percent-encoded.
    private let query: String?

    /// Returns nil unless the text is an http or https URL with a host. Characters that a URL cannot contain are percent-encoded after
    /// the host, and not accepted before its end.
    package init?(_ text: String) {
        guard let scheme = WebURL.scheme(of: text)?.lowercased(), ["http", "https"].contains(scheme),
            let start = text.firstPosition(of: ":", isAfter: true)
        else { return nil }
        self.init(reference: String(text[start...]), isSecure: scheme == "https")
    }

    /// Returns the URL that a reference stands for in a document of this one; nil unless it is an http or https URL. RFC 3986, 5.2.
    package func resolving(_ reference: String) -> WebURL? {
        if WebURL.scheme(of: reference) != nil { return WebURL(reference) }
        if reference.begins(with: "//") { return WebURL(reference: reference, isSecure: isSecure) }
        let parts = WebURL.parts(of: reference)
        if parts.path.isEmpty { return with(path: path, query: parts.query ?? query) }
        let isWhole = parts.path.begins(with: "/")
        let directory = path.lastPosition(of: "/").map { String(path[...$0]) } ?? "/"
        return with(
            path: WebURL.withoutDots(isWhole ? parts.path : directory + parts.path), query: parts.query)
    }

    /// `reference`: what follows the colon of the scheme.
    private init?(reference: String, isSecure: Bool) {
        guard let rest = reference.rest(after: "//") else { return nil }
        let end = rest.utf8.firstIndex { "/?#".utf8.contains($0) } ?? rest.endIndex
        guard let authority = Authority(rest[..<end]) else { return nil }
        let parts = WebURL.parts(of: String(rest[end...]))
        self.init(authority, isSecure, parts.path, parts.query)
    }

    private init(_ authority: Authority, _ isSecure: Bool, _ path: String, _ query: String?) {
        (user, host, port) = (authority.user, authority.host, authority.port)
        (self.isSecure, self.path, self.query) = (isSecure, path, query)
    }

    private var authority: Authority { Authority(user: user, host: host, port: port) }

    private func with(path: String, query: String?) -> WebURL { WebURL(authority, isSecure, path, query) }

    /// The same URL with the host replaced by an address, and the host with its port, for the header of the request.
    package func fixed(at address: WebResolver.Address) -> (url: WebURL, host: String) {
        let named = host + (port.map { ":\($0)" } ?? "")
        return (WebURL(Authority(user: user, host: address.text, port: port), isSecure, path, query), named)
    }
}

// MARK: its text

extension WebURL {
    package var text: String {
        let (user, query) = (user.map { "\($0)@" } ?? "", query.map { "?\($0)" } ?? "")
        return "\(scheme)://\(user)\(host)\(port.map { ":\($0)" } ?? "")\(path)\(query)"
    }

    /// The URL without secrets, for people: neither user nor query, and no percent-encoding.
    package var shown: String {
        "\(scheme)://\(host)\(port.map { ":\($0)" } ?? "")\(PercentEncoding.decode(path))"
    }

    /// The name of its document: the last component of its path, or the host.
    package var label: String {
        path.pieces(at: "/").last.map { PercentEncoding.decode(String($0)) } ?? host
    }

    package var scheme: String { isSecure ? "https" : "http" }

    /// The port that is dialled.
    package var effectivePort: UInt16 { port ?? (isSecure ? 443 : 80) }

    /// Whether the host is an IPv6 address.
    package var isVersion6: Bool { host.begins(with: "[") }

    /// Returns the scheme of a URL; nil for a reference without one.
    package static func scheme(of text: String) -> String? {
        guard let colon = text.firstPosition(of: ":"), let first = text.utf8.first,
            PercentEncoding.isLetter(first)
        else { return nil }
        let scheme = text[..<colon]
        let others = Array("+-.".utf8)
        let isScheme = scheme.utf8.allSatisfy { PercentEncoding.isLetterOrDigit($0) || others.contains($0) }
        return isScheme ? String(scheme) : nil
    }

    /// Returns path and query of what follows the host, percent-encoded. The fragment is not for the server.
    private static func parts(of text: String) -> (path: String, query: String?) {
        let text = text[..<(text.firstPosition(of: "#") ?? text.endIndex)]
        let parts = text.pieces(at: "?", atMost: 2, keepingEmpty: true).map(String.init)
        let query = parts.dropFirst().first.map { PercentEncoding.encode($0, keeping: "/?") }
        return (PercentEncoding.encode(parts[0], keeping: "/"), query)
    }

    /// Returns a path without the components `.` and `..`. RFC 3986, 5.2.4.
    private static func withoutDots(_ path: String) -> String {
        var kept: [Substring] = []
        let components = path.pieces(at: "/", keepingEmpty: true).dropFirst()
        for (place, component) in components.enumerated() {
            let isLast = place == components.count - 1
            switch component {
            case "..":
                _ = kept.popLast()
                if isLast { kept.append("") }
            case ".": if isLast { kept.append("") }
            default: kept.append(component)
            }
        }
        return "/" + kept.joined(separator: "/")
    }
}

/// What is between the two slashes of a URL and its path.
private struct Authority {
    let user: String?
    let host: String
    let port: UInt16?

    init(user: String?, host: String, port: UInt16?) {
        (self.user, self.host, self.port) = (user, host, port)
    }

    /// Returns nil unless every parser would find the same host.
    init?(_ text: Substring) {
        let parts = text.pieces(at: "@", keepingEmpty: true)
        guard (1...2).contains(parts.count), let place = parts.last else { return nil }
        user = parts.count == 2 ? String(parts[0]) : nil
        if let user, PercentEncoding.encode(user, keeping: "") != user { return nil }
        let isVersion6 = place.begins(with: "[")
        let end =
            isVersion6
            ? place.firstPosition(of: "]", isAfter: true) : place.firstPosition(of: ":")
        let rest = place[(end ?? place.endIndex)...]
        host = String(place[..<(end ?? place.endIndex)])
        port = rest.begins(with: ":+") ? nil : UInt16(rest.dropFirst())
        // A colon without a number is that of the scheme's own port.
        guard rest.isEmpty || rest == ":" || rest.begins(with: ":") && port ?? 0 > 0 else { return nil }
        if isVersion6 {
            guard let address = host.inBrackets, WebResolver.Address(String(address))?.bytes.count == 16
            else { return nil }
        } else {
            let others = Array("-._~".utf8)
            let isName = host.utf8.allSatisfy {
                PercentEncoding.isLetterOrDigit($0) || others.contains($0) || $0 >= 0x80
            }
            guard !host.isEmpty, isName else { return nil }
        }
    }
}
