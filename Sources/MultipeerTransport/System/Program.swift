import MultipeerPlatform

/// A program to be started as a process of its own.
package struct Program {
    private let path: String
    private let arguments: [String]
    private let environment: [String]

    /// The program could not be started; `code` is the system's `errno`.
    package struct NotStarted: Error {
        package let code: Int32
    }

    /// * `arguments`: those after the path, which is the first argument of the program.
    /// * `environment`: the whole of it.
    package init(_ path: String, _ arguments: [String], environment: [String: String]) {
        self.path = path
        self.arguments = [path] + arguments
        self.environment = environment.map { "\($0)=\($1)" }
    }

    /// Starts it with descriptors of this process in certain places, and returns its process id.
    ///
    /// It inherits no other descriptor after these and its standard streams, not even one without close-on-exec: the end
    /// of a pipe or socket that another thread has made would stay open for as long as the program runs. No signal is
    /// blocked or ignored in it: the signal settings of this process are not inherited.
    package func start(with streams: [(descriptor: Int32, place: Int32)]) throws(NotStarted) -> Int32 {
        var actions = unsafe posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        unsafe posix_spawn_file_actions_init(&actions)
        unsafe posix_spawnattr_init(&attributes)
        defer {
            unsafe posix_spawn_file_actions_destroy(&actions)
            unsafe posix_spawnattr_destroy(&attributes)
        }
        for stream in streams {
            unsafe posix_spawn_file_actions_adddup2(&actions, stream.descriptor, stream.place)
        }
        let last = streams.map(\.place).max() ?? -1
        unsafe SystemCalls.closeFrom(Swift.max(last, STDERR_FILENO) + 1, &actions)
        var none = sigset_t()
        var all = sigset_t()
        unsafe sigemptyset(&none)
        unsafe sigfillset(&all)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &all)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var words = unsafe arguments.map { unsafe strdup($0) } + [nil]
        var variables = unsafe environment.map { unsafe strdup($0) } + [nil]
        defer { unsafe (words + variables).forEach { unsafe free($0) } }
        var id: pid_t = 0
        let code = unsafe posix_spawn(&id, path, &actions, &attributes, &words, &variables)
        guard code == 0 else { throw NotStarted(code: code) }
        return id
    }

    /// Converts a status of `waitpid` as shells do: the exit code, or 128 plus the number of the signal.
    package static func ending(_ status: Int32) -> Int32 {
        status & 0x7f == 0 ? (status >> 8) & 0xff : 128 + (status & 0x7f)
    }
}
