import MultipeerEssentials

/// A thread of the system, which may block.
enum SystemThread {
    /// Starts a thread that receives no signals, and is never joined. The name has at most 15 bytes.
    static func start(_ name: String, _ body: @escaping @Sendable () -> Void) {
        do {
            try LoopThread.startDetached(name, body)
        } catch {
            leave(error)
        }
    }

    /// The threads that libdispatch needs before it runs a first task. While it gets none, it tries again each second, without
    /// end and without a word.
    private static let needed = 3

    /// Ends the program if no task could run.
    static func check() {
        if let fault = LoopThread.problem(running: needed) { leave(fault) }
    }

    private static func leave(_ fault: SocketFault) -> Never {
        Terminal.warn("the program cannot run: \(fault)")
        Terminal.leave(.system)
    }
}
