import MultipeerEssentials

/// A thread of the system, which may block.
enum SystemThread {
    /// Starts a thread that receives no signals, and is never joined. The name has at most 15 bytes.
    static func start(_ name: String, _ body: @escaping @Sendable () -> Void) {
        do {
            try LoopThread.startDetached(name, body)
        } catch {
            Terminal.warn("cannot start a thread: \(error)")
            Terminal.leave(.system)
        }
    }
}
