import Dispatch
package import Foundation
package import MultipeerFetch
import MultipeerNetworking
package import MultipeerTransport

/// One request to a web server, whose response is read in pieces.
///
/// Foundation's client reads as fast as the server writes: its `suspend` starts the document again, and its reading thread is one
/// for all sessions of the process, so it must not be blocked until a slow peer has room. Unread data therefore goes to disk, and
/// the server is finished with soon.
final class WebFetch: WebDocument {
    private let buffer = WebResponseBuffer()
    private let session: URLSession
    /// Where the client is called: it may wait for its own thread, and no task may block with it.
    private let caller = DispatchQueue(label: "multipeer-web")
    private let timeLimit: Duration
    private let url: String

    /// Begins the request. It times out if the server sends no data for the given time. With `address`, an http request goes there
    /// and nowhere else, whatever the host's name means meanwhile; for https the certificate ensures that the host is the named one.
    init(_ url: WebURL, at address: WebResolver.Address? = nil, timeLimit: Duration) throws(ResourceFault) {
        self.timeLimit = timeLimit
        self.url = url.shown
        let fixed = url.isSecure ? nil : address.map { url.fixed(at: $0) }
        guard let place = URL(string: (fixed?.url ?? url).text) else {
            throw .fetch("\(url.shown) is not a valid URL")
        }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        // The idle timeout is counted by our own clock.
        configuration.timeoutIntervalForRequest = 30 * 86_400
        configuration.timeoutIntervalForResource = 30 * 86_400
        let queue = WebQueue(buffer)
        queue.maxConcurrentOperationCount = 1
        session = URLSession(
            configuration: configuration, delegate: WebDelegate(buffer), delegateQueue: queue)
        var request = URLRequest(url: place)
        if let fixed { request.setValue(fixed.host, forHTTPHeaderField: "Host") }
        // A compressed document would be decompressed on the way, and longer than its length says.
        request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        caller.async { [session, request] in session.dataTask(with: request).resume() }
    }

    deinit { cancel() }

    /// Waits for the head of the response.
    func head() async throws(ResourceFault) -> WebHead {
        while true {
            switch buffer.takeHead() {
            case .ready(let head): return head
            case .failed(let fault): throw at(fault)
            case .over, .spooled: throw .fetch("\(url): no response")
            case .nothing(let signal): try await wait(for: signal)
            }
        }
    }

    /// Returns the available bytes, as many as fit into a piece; nil after the last.
    func next() async throws(ResourceFault) -> [UInt8]? {
        while true {
            switch buffer.takePiece(FileSource.piece) {
            case .ready(let piece): return piece
            case .failed(let fault): throw at(fault)
            case .over:
                cancel()
                return nil
            case .spooled: return try readSpool()
            case .nothing(let signal): try await wait(for: signal)
            }
        }
    }

    /// Returns the fault with the URL that it came from.
    private func at(_ fault: ResourceFault) -> ResourceFault {
        if case .fetch(let message) = fault { .fetch("\(url): \(message)") } else { fault }
    }

    private func readSpool() throws(ResourceFault) -> [UInt8] {
        do throws(FileFault) { return try buffer.readSpool(FileSource.piece) } catch { throw .file(error) }
    }

    /// Closes the connection; unread data is dropped.
    func cancel() {
        if buffer.cancel() { caller.async { [session] in session.invalidateAndCancel() } }
    }

    private func wait(for signal: Promise<WebResponseBuffer.Wake>) async throws(ResourceFault) {
        let timer = Task { [timeLimit] in
            try? await Task.sleep(for: timeLimit)
            signal.send(.timeout)
        }
        let wake = await signal.value(onCancel: { signal.send(.cancelled) })
        timer.cancel()
        switch wake {
        case .change: return
        case .cancelled:
            cancel()
            throw .cancelled
        case .timeout:
            cancel()
            throw .fetch("\(url): no response for \(timeLimit)")
        }
    }
}

extension WebSource {
    /// Requests a document with Foundation's client.
    @concurrent
    package static func open(
        _ url: URL, timeLimit: Duration = timeLimit, resolver: WebResolver = .system
    ) async throws(ResourceFault) -> WebSource {
        guard let webURL = WebURL(url.absoluteString) else {
            throw .unsupported(
                "only http and https URLs can be fetched, not \(url.scheme ?? "one without scheme")")
        }
        return try await open(
            webURL,
            with: { (url, address, timeLimit) throws(ResourceFault) in
                try WebFetch(url, at: address, timeLimit: timeLimit)
            },
            timeLimit: timeLimit, resolver: resolver)
    }
}

/// Receives what the client reports.
private final class WebDelegate: NSObject, URLSessionDataDelegate {
    private let buffer: WebResponseBuffer

    init(_ buffer: WebResponseBuffer) { self.buffer = buffer }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        buffer.begin(WebHead(response))
        completionHandler(.allow)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
    ) {
        // Refused here: the client then reports this response itself, with its head, and the reader follows the redirection or
        // not.
        if buffer.beginRedirection() { completionHandler(nil) }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        buffer.append([UInt8](data))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        buffer.end(error.map { .fetch($0.localizedDescription) })
        if buffer.endRedirection() { session.invalidateAndCancel() }
    }
}

/// Calls the delegate, and delays the client's thread a little for each call while the disk does not keep up.
///
/// Unchecked as its superclass is: it adds nothing but a constant that is `Sendable`.
private final class WebQueue: OperationQueue, @unchecked Sendable {
    private let buffer: WebResponseBuffer

    init(_ buffer: WebResponseBuffer) { self.buffer = buffer }

    override func addOperation(_ block: @escaping @Sendable () -> Void) {
        buffer.callQueued()
        super.addOperation { [buffer] in
            block()
            buffer.callDone()
        }
    }
}
