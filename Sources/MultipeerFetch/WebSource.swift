package import MultipeerTransport

/// A document of the web, fetched while it is being read.
package final class WebSource: PieceSource {
    /// The idle timeout: how long a server may send no data.
    package static let timeLimit = Duration.seconds(60)
    private static let redirections = 10

    package let size: UInt64?
    package let address: String?
    private let fetch: any WebDocument
    private let count = Locked<UInt64>(0)

    private init(_ fetch: any WebDocument, size: UInt64?, at url: WebURL) {
        self.fetch = fetch
        self.size = size
        address = url.shown
    }

    deinit { fetch.cancel() }

    /// Requests a document. With an address, the request goes there and nowhere else, whatever the host's name means meanwhile, and
    /// through a proxy, too.
    /// Redirections are not followed. `timeLimit`: how long the server may send no data.
    package typealias Client =
        @Sendable (_ url: WebURL, _ address: WebResolver.Address?, _ timeLimit: Duration)
        async throws(ResourceFault)
        -> any WebDocument

    /// Requests the document, at the URL that the server redirects to, and returns once its head has arrived.
    ///
    /// Redirections are followed here and not by the client, which takes the path of a file URL for one of the server, and follows
    /// those from the internet to this machine and its network.
    @concurrent
    package static func open(
        _ url: WebURL, with client: Client, timeLimit: Duration = timeLimit, resolver: WebResolver = .system
    ) async throws(ResourceFault) -> WebSource {
        var url = url
        var addresses = await resolver.addresses(of: url.host)
        // Without a redirection, the client looks up the host itself: the user has named it.
        var fixed: WebResolver.Address?
        for _ in 0...redirections {
            let fetch = try await client(url, fixed, timeLimit)
            let head = try await fetch.head()
            switch head.status {
            case 200..<300 where head.status != 206: return WebSource(fetch, size: head.length, at: url)
            case 301, 302, 303, 307, 308:
                fetch.cancel()
                let next = try url.redirected(to: head.location)
                let found = await resolver.addresses(of: next.host)
                try url.checkRedirection(to: next, Set(addresses.map(\.scope)), Set(found.map(\.scope)))
                (url, addresses, fixed) = (next, found, found.first)
            case let status:
                fetch.cancel()
                throw .fetch("\(url.shown) answered with status \(status)")
            }
        }
        throw .fetch("\(url.shown) redirects again and again")
    }

    package func next() async throws(ResourceFault) -> [UInt8]? {
        let piece = try await fetch.next()
        let count = count.withLock { count in
            count += UInt64(piece?.count ?? 0)
            return count
        }
        if piece == nil, let size, count < size { throw .tooShort(count, of: size) }
        return piece
    }

    package func cancel() { fetch.cancel() }
}

extension WebURL {
    /// Throws unless every address of the next host may be reached from this one.
    fileprivate func checkRedirection(
        to next: WebURL, _ former: Set<AddressScope>, _ scopes: Set<AddressScope>
    ) throws(ResourceFault) {
        guard !scopes.isEmpty else { throw .fetch("\(shown) redirects to \(next.shown): no such host") }
        guard scopes.allSatisfy({ $0.isReachable(from: former) }) else {
            throw .fetch("\(shown) redirects to \(next.shown), an address that is not public")
        }
    }

    fileprivate func redirected(to location: String?) throws(ResourceFault) -> WebURL {
        let scheme = location.flatMap(WebURL.scheme)?.lowercased() ?? self.scheme
        guard scheme == "https" || scheme == "http" && !isSecure else {
            throw .fetch("\(shown) redirects to \(scheme), which is not followed")
        }
        guard let next = location.flatMap(resolving) else { throw .fetch("\(shown) redirects to nowhere") }
        return next
    }
}
