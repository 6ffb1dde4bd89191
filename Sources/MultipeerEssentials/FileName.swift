import MultipeerTransport

/// The name that a received file gets. The sender's name for it is a label and never a path.
package enum FileName {
    /// The longest name that Linux file systems allow.
    package static let limit = 255
    /// The name of a file whose label has no usable character.
    package static let fallback = "file"
    /// Longer extensions are ignored.
    private static let longestEnding = 16

    /// Returns one path component that is never hidden, never special, never an option, and that a terminal shows as it is.
    package static func of(label: String) -> String {
        // `_` stands for what a name does not contain, and for what does not show where it stands.
        let component = FilePath(label).name.replacing(with: { _ in "_" }) { scalar, isShown in
            isUnfit(scalar) || scalar.isInvisible && !isShown()
        }
        var scalars = component.unicodeScalars
        while scalars.last == " " { scalars.removeLast() }
        if let first = scalars.first, ".-~ ".unicodeScalars.contains(first) {
            scalars.replaceSubrange(scalars.startIndex...scalars.startIndex, with: ["_"])
        } else if scalars.first?.isMark == true {
            // It would change how the slash before the name looks.
            scalars.insert("_", at: scalars.startIndex)
        }
        guard !scalars.isEmpty else { return fallback }
        let name = shortened(String(scalars), to: limit)
        return PartialFile.isReserved(name) ? shortened(name, to: limit - 1) + "_" : name
    }

    /// Returns the name with a number before its extension: for a file whose name is taken.
    package static func numbered(_ name: String, _ number: Int) -> String {
        let (stem, ending) = parts(name)
        let tail = "~\(number)\(ending)"
        return prefix(stem, limit - tail.utf8.count) + tail
    }

    /// Shortens the name but keeps the extension, which shows the kind of file.
    static func shortened(_ name: String, to limit: Int) -> String {
        guard name.utf8.count > limit else { return name }
        let (stem, ending) = parts(name)
        return prefix(stem, limit - ending.utf8.count) + ending
    }

    private static func parts(_ name: String) -> (stem: Substring, ending: Substring) {
        guard let dot = name.lastPosition(of: "."), dot > name.startIndex,
            name[dot...].utf8.count <= longestEnding
        else { return (name[...], "") }
        return (name[..<dot], name[dot...])
    }

    /// Returns as many whole characters as fit.
    private static func prefix(_ text: Substring, _ limit: Int) -> String {
        var rest = text
        while rest.utf8.count > limit { rest.removeLast() }
        return rest.isEmpty ? String(fallback.prefix(limit)) : String(rest)
    }

    private static func isUnfit(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "/" || scalar == "\\" || scalar.isTricky || scalar.value == 0xFFFD
            || scalar.properties.isNoncharacterCodePoint
    }
}
