package import Foundation
import FoundationNetworking
package import MultipeerTransport

/// A document of the web, fetched while it is being read.
package final class WebSource: PieceSource {
    /// The idle timeout: how long a server may send no data.
    package static let timeLimit = Duration.seconds(60)
    private static let redirections = 10

    package let size: UInt64?
    private let fetch: WebFetch
    private let count = Locked<UInt64>(0)

    private init(_ fetch: WebFetch, size: UInt64?) {
        self.fetch = fetch
        self.size = size
    }

    deinit { fetch.cancel() }

    /// Requests the document, at the URL that the server redirects to, and returns once its head has arrived.
    ///
    /// Redirections are followed here and not by the client, which takes the path of a file URL for one of the server.
    @concurrent
    package static func open(_ url: URL, timeLimit: Duration = timeLimit) async throws(ResourceFault)
        -> WebSource
    {
        guard url.isOfTheWeb else {
            throw .unsupported(
                "only http and https URLs can be fetched, not \(url.scheme ?? "one without scheme")")
        }
        var url = url
        for _ in 0...redirections {
            let fetch = WebFetch(url, timeLimit: timeLimit)
            let head = try await fetch.head()
            switch head.status {
            case 200..<300 where head.status != 206: return WebSource(fetch, size: head.length)
            case 301, 302, 303, 307, 308:
                fetch.cancel()
                url = try url.redirected(to: head.location)
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

extension URL {
    /// The URL without secrets: neither user nor query.
    var shown: String {
        let port = port.map { ":\($0)" } ?? ""
        return "\(scheme ?? "")://\(host ?? "")\(port)\(path)"
    }

    fileprivate var isOfTheWeb: Bool { isSecure || scheme?.lowercased() == "http" }
    private var isSecure: Bool { scheme?.lowercased() == "https" }

    fileprivate func redirected(to location: String?) throws(ResourceFault) -> URL {
        guard let location, let next = URL(string: location, relativeTo: self)?.absoluteURL else {
            throw .fetch("\(shown) redirects to nowhere")
        }
        guard isSecure ? next.isSecure : next.isOfTheWeb else {
            throw .fetch("\(shown) redirects to \(next.scheme ?? "no scheme"), which is not followed")
        }
        return next
    }
}
