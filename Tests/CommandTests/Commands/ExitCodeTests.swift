import Foundation
import Multipeer
import MultipeerCLI
import MultipeerCommandLine
import TestSupport
import Testing

@Suite("Command: exit codes and warnings", .inTurns)
struct ExitCodeTests {
    @Test("130 means that the user interrupted this command, never that the peer cancelled something")
    func cancelled() {
        let error = CommandError(MultipeerError(.cancelled, "ann has withdrawn the invitation"))
        #expect(error.exit == .linkFailed)
    }

    @Test("a port that is given and in use is an error; the one that is tried first is replaced")
    func port() async throws {
        var configuration = Session.Configuration()
        configuration.listenAddresses = [.loopback]
        configuration.port = try ReservedPort.next()
        let session = try Session(peer: PeerID(displayName: "ann"), configuration: configuration)
        _ = try await session.connectionData()
        let port = "\(configuration.port ?? 0)"
        let waiting = ["receive", "--yes", "--timeout", "1", "--interface", "lo"]
        for words in [["--port", port], ["-p", port], ["--listen", "127.0.0.1:\(port)"]] {
            let ending = try await Command(waiting + words).finish()
            #expect(ending.code == ExitCode.system.rawValue)
            #expect(ending.errors.contains("port \(port) is in use by another program"))
        }
        let folder = try Folder()
        let settings = ["XDG_CONFIG_HOME": folder.path("")]
        #expect(try await Command(["config", "port", port], environment: settings).finish().code == 0)
        let ending = try await Command(waiting, environment: settings).finish()
        #expect(ending.errors.contains("port \(port) is in use by another program"))
        // Two that run at the same time cannot both have it.
        async let first = Command(waiting).finish()
        async let second = Command(waiting).finish()
        for ending in try await [first, second] {
            #expect(ending.code == ExitCode.linkFailed.rawValue)
            #expect(ending.errors.contains("no peer connected"))
        }
        await session.disconnect()
    }

    @Test("an argument that is not UTF-8 is an error, and never the name of another file")
    func notUTF8() async throws {
        let folder = try Folder()
        // What stands for the byte in a repaired text.
        try Data("another".utf8).write(to: URL(filePath: folder.path("q\u{fffd}")))
        let script = "cd \"$1\" && exec \"$2\" send -q \"$(printf 'q\\377')\""
        let shell = ["/bin/sh", "-c", script, "sh", folder.path("")]
        let ending = try await Command([], through: shell).finish()
        #expect(ending.code == ExitCode.usage.rawValue)
        #expect(ending.errors.contains("argument 3 is not UTF-8"))
    }

    @Test("a program for which there are no threads says so and ends, where it could not run a task")
    func noThreads() async {
        let result = await #expect(processExitsWith: .exitCode(4), observing: [\.standardErrorContent]) {
            if geteuid() == 0 { try #require(setuid(65_534) == 0) }
            // `RLIMIT_NPROC`.
            var limit = rlimit(rlim_cur: 1, rlim_max: 1)
            unsafe setrlimit(__rlimit_resource_t(6), &limit)
            CommandProgram("x", "y", []).main()
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("x: the program cannot run: no thread can be started"))
    }

    @Test("a signal ends a program also when no task begins any longer")
    func signalWithoutTasks() async {
        await #expect(processExitsWith: .exitCode(143)) {
            // They occupy every thread of the pool.
            for _ in 0..<256 { Task.detached { while true { sleep(100) } } }
            SignalHandler.block()
            pthread_kill(pthread_self(), SIGTERM)
            SignalHandler.serve()
        }
    }

    @Test("a key log that only the environment asks for is reported, once")
    func keyLog() async throws {
        let folder = try Folder()
        let path = folder.path("keys")
        let waiting = ["receive", "--yes", "--timeout", "1", "--into", folder.path("")]
        let variable = try await Command(waiting, environment: ["SSLKEYLOGFILE": path]).finish()
        #expect(variable.errorLines.count { $0.contains("SSLKEYLOGFILE is set") && $0.contains(path) } == 1)
        let option = try await Command(waiting + ["--keylog", path]).finish()
        #expect(!option.errors.contains("SSLKEYLOGFILE"))
    }
}
