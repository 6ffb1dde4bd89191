package import MultipeerEssentials

/// The path of a file in a directory that is sent, such as `album/2024/photo.jpg`: it begins with the name of that directory.
///
/// It may come from a peer. One that exists has only components that are names: it cannot lead out of the directory it is used
/// in, and a terminal shows it as it is but for characters that are escaped.
package struct RelativePath: Hashable, Sendable {
    /// The components of the directory that it is in; none of the directory that is sent.
    package let directory: [FilePath]
    private let last: FilePath

    package var name: String { last.text }

    /// The most components.
    package static let deepest = 64
    /// How many directories a file can be in, each in the one before.
    package static let mostDirectories = deepest - 1
    /// In bytes; the rest of a resource's metadata has room next to it.
    package static let longest = 960
    /// The longest component in bytes, as file systems have it.
    package static let longestName = 255

    /// Why a text is not a path that is used.
    package enum Fault: Error, Hashable, Sendable {
        case empty, absolute, emptyName, dots, slash, control, ending, long, longName, deep, reserved
    }

    package init(_ text: String) throws(Fault) {
        if text.isEmpty { throw .empty }
        if text.utf8.first == UInt8(ascii: "/") { throw .absolute }
        guard text.utf8.count <= RelativePath.longest else { throw .long }
        let parts = text.utf8.split(
            separator: UInt8(ascii: "/"), maxSplits: RelativePath.deepest, omittingEmptySubsequences: false)
        guard parts.count <= RelativePath.deepest else { throw .deep }
        var components: [FilePath] = []
        components.reserveCapacity(parts.count)
        for part in parts {
            let name = String(Substring(part))
            if let fault = RelativePath.fault(ofName: name) { throw fault }
            components.append(FilePath(name))
        }
        last = components.removeLast()
        directory = components
    }

    fileprivate init(_ directory: [FilePath], _ name: String) {
        self.directory = directory
        last = FilePath(name)
    }

    /// Returns nil if a file or directory in a directory can have this name.
    package static func fault(ofName name: String) -> Fault? {
        if name.isEmpty { return .emptyName }
        if name == "." || name == ".." { return .dots }
        if name.utf8.contains(UInt8(ascii: "/")) { return .slash }
        guard name.utf8.count <= longestName else { return .longName }
        // Other systems drop these, so that the name is another one there.
        if let last = name.utf8.last, last == UInt8(ascii: ".") || last == UInt8(ascii: " ") {
            return .ending
        }
        // Most names need no more than their last byte looked at.
        if name.utf8.last == reservedEnd, PartialFile.isReserved(name) { return .reserved }
        if name.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return nil }
        let scalars = name.unicodeScalars
        return scalars.contains(where: isUnfit) || scalars.allSatisfy(isBlank) ? .control : nil
    }

    /// Both kinds of reserved names end with it.
    private static let reservedEnd = UInt8(ascii: "t")

    package var components: [FilePath] { directory + [last] }

    package var text: String { FilePath(components).text }

    private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isInvisible || scalar.properties.isWhitespace
    }

    /// Control characters, and what changes lines or the direction of text. Emoji have invisible characters, which are taken.
    private static func isUnfit(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate: true
        default:
            scalar.properties.isBidiControl || scalar.value == 0xFFFD
                || scalar.properties.isNoncharacterCodePoint
        }
    }
}

/// The path of a directory, to which names of files in it are added: checked as a whole, but once for all of them.
package struct DirectoryPath: Hashable, Sendable {
    package let components: [FilePath]
    /// In bytes, with a slash between two components.
    private let length: Int
    /// Why no file in it has a path that is used, whatever its name.
    private let fault: RelativePath.Fault?

    /// `name`: of the directory that is sent.
    package init(_ name: String) {
        components = [FilePath(name)]
        length = name.utf8.count
        fault = RelativePath.fault(ofName: name)
    }

    package init(_ path: RelativePath) {
        components = path.components
        length = components.reduce(components.count - 1) { $0 + $1.text.utf8.count }
        fault = nil
    }

    private init(_ components: [FilePath], _ length: Int, _ fault: RelativePath.Fault?) {
        self.components = components
        self.length = length
        self.fault = fault
    }

    /// Returns the path of a directory in it, also if it is not used.
    package func directory(_ name: String) -> DirectoryPath {
        DirectoryPath(
            components + [FilePath(name)], length + 1 + name.utf8.count,
            fault ?? RelativePath.fault(ofName: name))
    }

    package func file(_ name: String) throws(RelativePath.Fault) -> RelativePath {
        if let fault { throw fault }
        guard length + 1 + name.utf8.count <= RelativePath.longest else { throw .long }
        guard components.count < RelativePath.deepest else { throw .deep }
        if let fault = RelativePath.fault(ofName: name) { throw fault }
        return RelativePath(components, name)
    }
}

extension RelativePath.Fault: CustomStringConvertible {
    /// For the end of a sentence.
    package var description: String {
        switch self {
        case .empty: "the path is empty"
        case .absolute: "the path is absolute"
        case .emptyName: "a name in the path is empty"
        case .dots: "a name in the path is '.' or '..'"
        case .slash: "a name in the path contains '/'"
        case .control: "a name has characters that cannot be shown"
        case .ending: "a name ends with a dot or a space"
        case .long: "the path is longer than \(RelativePath.longest) bytes"
        case .longName: "a name is longer than \(RelativePath.longestName) bytes"
        case .reserved: "a name is that of a file that is not complete"
        case .deep: "it is more than \(RelativePath.mostDirectories) directories deep"
        }
    }
}
