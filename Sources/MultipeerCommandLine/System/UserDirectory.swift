package import Foundation

/// Where the user's files are. The variables come first, as in other commands: Foundation reads the user database only.
package enum UserDirectory {
    package static var home: URL {
        directory("HOME") ?? FileManager.default.homeDirectoryForCurrentUser
    }

    /// The directory for what the command remembers: that of the XDG Base Directory Specification.
    package static var configuration: URL {
        (directory("XDG_CONFIG_HOME") ?? home.appending(path: ".config")).appending(path: "multipeer")
    }

    /// Returns the directory that a variable names; nil unless the path is absolute.
    private static func directory(_ variable: String) -> URL? {
        let path = ProcessInfo.processInfo.environment[variable]
        guard let path, path.hasPrefix("/") else { return nil }
        return URL(filePath: path, directoryHint: .isDirectory)
    }
}
