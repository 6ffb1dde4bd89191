import MultipeerEssentials

/// Where the user's files are. The variables come first, as in other commands.
package enum UserDirectory {
    package static var home: String { directory("HOME") ?? homeOfUser }

    /// The directory for what the command remembers: that of the XDG Base Directory Specification.
    package static var configuration: String {
        let outer = directory("XDG_CONFIG_HOME") ?? FilePath(home).appending(".config")
        return FilePath(outer).appending("multipeer")
    }

    /// Returns the path of a file in that directory.
    package static func configurationPath(_ name: String) -> String {
        FilePath(configuration).appending(name)
    }

    /// Creates directories that are missing, readable by the user only, but neither a home nor what contains it: a user without
    /// one has none afterwards. Returns why the last one does not exist; nil if it does.
    package static func create(_ path: String) -> String? {
        for directory in parts(of: path) where unsafe mkdir(directory, 0o700) != 0 && errno != EEXIST {
            // First: asking for the home, to show the path, changes `errno`.
            let reason = DescriptorStream.reason(errno)
            return "cannot create \(shown(directory)): \(reason)"
        }
        return FileSystem.exists(path) ? nil : "cannot create \(shown(path))"
    }

    /// Returns why `create` would fail for the directory of this file; nil if it would not. Nothing is created.
    package static func obstacle(to file: String) -> String? {
        let folder = parent(of: file)
        let missing = folder.isEmpty ? nil : parts(of: folder).first { !FileSystem.exists($0) }
        let parent = missing.map { UserDirectory.parent(of: $0) } ?? folder
        if unsafe access(parent.isEmpty ? "." : "\(parent)/.", W_OK | X_OK) == 0 { return nil }
        let reason = DescriptorStream.reason(errno)
        let place = missing ?? folder
        return "\(place.isEmpty ? "." : shown(place)): \(reason)"
    }

    /// The directories that may be missing, the first one first.
    private static func parts(of path: String) -> [String] {
        let above = parent(of: configuration)
        return [above, configuration, path].filter { path.hasBytes(of: $0) || path.begins(with: "\($0)/") }
    }

    private static func parent(of path: String) -> String {
        let parts = path.pieces(at: "/").dropLast().joined(separator: "/")
        return FilePath(path).isAbsolute ? "/\(parts)" : parts
    }

    /// Returns a path as people read it: with `~` for the home.
    package static func shown(_ path: String) -> String {
        let home = home
        guard home != "/", let rest = path.rest(after: "\(home)/") else { return path.printable }
        return "~/\(rest)".printable
    }

    /// Returns the path that a user has written, with a home in place of `~/`.
    package static func expanded(_ path: String) -> String {
        path.rest(after: "~/").map { "\(home)/\($0)" } ?? path
    }

    /// Returns the directory that a variable names; nil unless the path is absolute.
    private static func directory(_ variable: String) -> String? {
        guard let path = Environment.value(variable).map(FilePath.init), path.isAbsolute else { return nil }
        return path.withoutEnd
    }

    /// The home in the user database.
    private static var homeOfUser: String {
        var (entry, found) = unsafe (passwd(), UnsafeMutablePointer<passwd>?.none)
        var buffer = [CChar](repeating: 0, count: longestEntry)
        let isKnown = unsafe getpwuid_r(getuid(), &entry, &buffer, buffer.count, &found) == 0 && found != nil
        guard isKnown, let home = unsafe entry.pw_dir else { return "/" }
        return unsafe String(cString: home)
    }

    private static let longestEntry = 65_536
}
