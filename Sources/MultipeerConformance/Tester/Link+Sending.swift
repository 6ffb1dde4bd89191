/// What a case does with a connection: sends, rightly or not, and ends it.
extension Link {
    /// Bytes that wait because the kernel takes no more.
    var unsent: Int { outgoing.count }

    func send(_ frame: Frame) {
        trial.log.add(.sent, name, frame)
        spent += frame.cost
        write(frame.bytes)
    }

    /// Several frames at once: in one TLS record if they fit.
    func send(_ frames: [Frame]) {
        for frame in frames {
            trial.log.add(.sent, name, frame)
            spent += frame.cost
        }
        write(frames.flatMap(\.bytes))
    }

    /// Any bytes where frames should be.
    func send(raw bytes: [UInt8], _ what: String) {
        trial.log.add(.sent, "\(name): \(what), \(bytes.count) bytes  \(WireLog.excerpt(bytes))")
        write(bytes)
    }

    /// Bytes under the TLS, or where it should be.
    func send(beneath bytes: [UInt8], _ what: String) {
        trial.log.add(.sent, "\(name): beneath TLS: \(what), \(bytes.count) bytes  \(WireLog.excerpt(bytes))")
        outgoing += bytes
        flush()
    }

    private func write(_ bytes: [UInt8]) {
        guard let tls else {
            outgoing += bytes
            return flush()
        }
        tls.write(bytes)
        outgoing += tls.drainOutput()
        flush()
    }

    /// Whether everything is handed to the kernel in time.
    @discardableResult
    func flush(within duration: Duration) -> Bool {
        trial.pump.wait(duration) { outgoing.isEmpty || ending != nil } && outgoing.isEmpty
    }

    /// Changes keys under way. Spec 15.
    func updateKeys(isAsking: Bool) {
        tls?.updateKeys(isAsking: isAsking)
        progress()
    }

    /// Ends the connection properly: close_notify with TLS, then FIN.
    func close() {
        guard ending == nil else { return }
        tls?.close()
        outgoing += tls?.drainOutput() ?? []
        flush()
        trial.log.add(.sent, "\(name): closes")
        leave()
    }

    /// FIN and nothing before it.
    func truncate() {
        trial.log.add(.sent, "\(name): FIN")
        leave()
    }

    /// RST.
    func reset() {
        trial.log.add(.sent, "\(name): RST")
        socket.reset()
        leave()
    }

    /// The connection stays open as the subject sees it, and nobody is there any more.
    func abandon() {
        trial.log.add(.note, "\(name): silent from here on")
        isReading = false
        answersPings = false
    }

    private func leave() {
        guard ending == nil else { return }
        ending = .closed
        trial.pump.remove(self)
        socket.close()
    }
}
