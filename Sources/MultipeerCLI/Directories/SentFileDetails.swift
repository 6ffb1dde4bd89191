package import MultipeerCommandLine
package import MultipeerEssentials

/// What `multipeer send` says about a file in the metadata of its resource: its number, and where known whether it is a
/// program, when it was modified, and its path in the directory that is sent.
///
/// As text, `3/10`, or `3/10 x 1764179207.000000000`; a path follows in a second line. The second field is `-` for a file, `x`
/// for one that its owner may execute, and `d` for a directory without entries.
package struct SentFileDetails: Equatable, Sendable {
    package enum Kind: Character, Sendable {
        case file = "-"
        case program = "x"
        case directory = "d"
    }

    package let position: FilePosition
    package var kind = Kind.file
    package var modified: FileTime?
    package var path: RelativePath?

    package init(
        _ position: FilePosition, kind: Kind = .file, modified: FileTime? = nil, path: RelativePath? = nil
    ) {
        self.position = position
        self.kind = kind
        self.modified = modified.map { time in
            let seconds = min(
                max(time.seconds, SentFileDetails.plausible.lowerBound), SentFileDetails.plausible.upperBound)
            return FileTime(seconds: seconds, nanoseconds: time.nanoseconds)
        }
        self.path = path
    }

    /// Returns nil for metadata of any other form. Throws when it is of this form, and the path is one that cannot be used.
    package init?(metadata: [UInt8]?) throws(RelativePath.Fault) {
        guard let metadata, metadata.count <= SentFileDetails.longest,
            let text = String(validating: metadata, as: UTF8.self)
        else { return nil }
        let lines = text.utf8.split(separator: 10, maxSplits: 1, omittingEmptySubsequences: false)
        let fields = lines[0].split(separator: 32, omittingEmptySubsequences: false)
        guard let position = FilePosition(metadata: Array(fields[0])) else { return nil }
        self.position = position
        if fields.count > 1 {
            guard fields.count == 3, let letter = String(Substring(fields[1])).first, fields[1].count == 1,
                let kind = Kind(rawValue: letter), let time = SentFileDetails.time(fields[2])
            else { return nil }
            self.kind = kind
            modified = time
        }
        guard lines.count == 2 else {
            if kind == .directory { return nil }
            return
        }
        guard fields.count == 3 else { return nil }
        path = try RelativePath(String(Substring(lines[1])))
    }

    /// Those of a resource.
    private static let longest = 1_024

    package var metadata: [UInt8] {
        guard let modified else { return position.metadata }
        let fraction = String(1_000_000_000 + modified.nanoseconds).dropFirst()
        let head = "\(position.number)/\(position.count) \(kind.rawValue) \(modified.seconds).\(fraction)"
        return Array((path.map { "\(head)\n\($0.text)" } ?? head).utf8)
    }

    /// About a thousand years before and after 1970; a time beyond becomes the nearest.
    private static let plausible: ClosedRange<Int64> = -(1 << 35)...(1 << 35)

    /// Reads seconds, a point and nine digits.
    private static func time(_ field: Substring.UTF8View) -> FileTime? {
        let parts = field.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].count == 9 else { return nil }
        let digits = parts[0].first == UInt8(ascii: "-") ? parts[0].dropFirst() : parts[0]
        let all = [digits, parts[1]]
        guard !digits.isEmpty, all.allSatisfy({ $0.allSatisfy { (48...57).contains($0) } }),
            let seconds = Int64(Substring(parts[0])), plausible.contains(seconds),
            let nanoseconds = Int64(Substring(parts[1]))
        else { return nil }
        return FileTime(seconds: seconds, nanoseconds: nanoseconds)
    }
}
