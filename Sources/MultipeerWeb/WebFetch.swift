import Dispatch
import Foundation
import FoundationNetworking
import MultipeerTransport

/// One request to a web server, whose answer is taken in pieces.
///
/// Foundation's client reads as fast as the server writes: its `suspend` begins the document anew, and the thread that
/// reads is one for all sessions of the process, so it must not be held up until a slow peer has room. What nobody has
/// taken yet goes to disk, then, and the server is done with it soon.
final class WebFetch: Sendable {
    private let buffer = WebResponseBuffer()
    private let session: URLSession
    /// Where the client is called: it may wait for its own thread, and then nobody's task must wait with it.
    private let caller = DispatchQueue(label: "multipeer-web")
    private let patience: Duration
    private let url: String

    /// Begins to ask. `patience`: how long the server may say nothing.
    init(_ url: URL, patience: Duration) {
        self.patience = patience
        self.url = url.shown
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        // A clock of ours counts the silence.
        configuration.timeoutIntervalForRequest = 30 * 86_400
        configuration.timeoutIntervalForResource = 30 * 86_400
        let queue = WebQueue(buffer)
        queue.maxConcurrentOperationCount = 1
        session = URLSession(
            configuration: configuration, delegate: WebDelegate(buffer), delegateQueue: queue)
        var request = URLRequest(url: url)
        // A packed document would be unpacked on the way, and longer than its length says.
        request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        caller.async { [session, request] in session.dataTask(with: request).resume() }
    }

    deinit { cancel() }

    /// Waits for the head of the answer.
    func head() async throws(ResourceFault) -> WebResponseBuffer.Head {
        while true {
            switch buffer.takeHead() {
            case .ready(let head): return head
            case .failed(let fault): throw at(fault)
            case .over, .spooled: throw .fetch("\(url): no answer")
            case .nothing(let signal): try await wait(for: signal)
            }
        }
    }

    /// The bytes that are there, as many as fit into a piece; nil after the last.
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

    /// With the place where it was said.
    private func at(_ fault: ResourceFault) -> ResourceFault {
        if case .fetch(let message) = fault { .fetch("\(url): \(message)") } else { fault }
    }

    private func readSpool() throws(ResourceFault) -> [UInt8] {
        do throws(FileFault) { return try buffer.readSpool(FileSource.piece) } catch { throw .file(error) }
    }

    /// Lets go of the connection; what is there already is dropped.
    func cancel() {
        if buffer.cancel() { caller.async { [session] in session.invalidateAndCancel() } }
    }

    private func wait(for signal: Promise<WebResponseBuffer.Wake>) async throws(ResourceFault) {
        let timer = Task { [patience] in
            try? await Task.sleep(for: patience)
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
            throw .fetch("\(url): no answer for \(patience)")
        }
    }
}

/// Takes what the client reports.
private final class WebDelegate: NSObject, URLSessionDataDelegate {
    private let buffer: WebResponseBuffer

    init(_ buffer: WebResponseBuffer) { self.buffer = buffer }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        buffer.begin(WebResponseBuffer.Head(response))
        completionHandler(.allow)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
    ) {
        // Refused here: the answer itself is what there is then, with its head, and the taker follows it or not.
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

/// Calls the delegate, and holds up whoever has calls for it a little while the disk does not keep up.
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
