import Foundation
import MultipeerPlatform
import MultipeerConformance
import MultipeerCommandLine

/// Whether this process may create network namespaces, which some cases need.
enum NamespacePermission {
    /// Keeps the program from starting itself a second time; a user may set it to do without these cases.
    private static let variable = "MULTIPEER_CONFORM_NAMESPACES"
    private static let tool = ["unshare", "--user", "--map-current-user", "--keep-caps"]

    /// Starts this program again in a user namespace, as the same user, if only that is missing for one of the cases. Where that
    /// is not allowed either, nothing happens: the cases are skipped, and say why.
    static func obtain(for cases: [Case]) {
        let isAsked = ProcessInfo.processInfo.environment[variable] == nil
        guard isAsked, cases.contains(where: { $0.network != nil }), !NetworkNamespace.isPermitted,
            isPossible
        else { return }
        unsafe setenv(variable, "1", 1)
        let words = tool + [ChildProcess.ownPath] + CommandLine.arguments.dropFirst()
        // The copies are used until the program is replaced; if it is not, they stay for good.
        var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
        _ = unsafe execvp(tool[0], &arguments)
    }

    /// Whether the tool exists and the system allows what it does.
    private static var isPossible: Bool {
        guard let process = try? ChildProcess("/usr/bin/env", tool + ["true"], catchingErrors: true)
        else { return false }
        defer { process.closeStreams() }
        return process.wait() == 0
    }
}
