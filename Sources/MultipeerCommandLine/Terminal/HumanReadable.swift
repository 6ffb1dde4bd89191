import MultipeerEssentials

/// Numbers for people. They may come from a peer, so no value is too large.
package enum HumanReadable {
    package static func bytes(_ count: Int) -> String { bytes(Double(count)) }

    package static func bytes(_ count: UInt64) -> String { bytes(Double(count)) }

    package static func bytes(_ count: Double) -> String {
        let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
        var value = count.isFinite ? max(0, count) : 0
        var unit = 0
        while value >= 1_024, unit < units.count - 1 {
            value /= 1_024
            unit += 1
        }
        return unit == 0 ? "\(Int(value)) B" : "\(rounded(value)) \(units[unit])"
    }

    /// `directories`: those without files, which are not among the files.
    package static func files(_ count: Int, directories: Int = 0) -> String {
        let files = count == 1 ? "1 file" : "\(count) files"
        guard directories > 0 else { return files }
        let others = directories == 1 ? "1 directory" : "\(directories) directories"
        return count == 0 ? others : "\(files) and \(others)"
    }

    package static func duration(_ duration: Duration) -> String {
        let seconds = duration.seconds
        return seconds < 1 ? "\(rounded(seconds * 1e3)) ms" : "\(rounded(seconds)) s"
    }

    /// Returns hours, minutes and seconds, as a clock shows them; less than a day.
    package static func clock(_ duration: Duration) -> String {
        let seconds = max(0, duration.components.seconds)
        guard seconds < 86_400 else { return "more than a day" }
        let minutes = seconds / 60
        let hours = minutes / 60
        return hours > 0
            ? "\(hours):\(twoDigits(minutes % 60)):\(twoDigits(seconds % 60))"
            : "\(minutes):\(twoDigits(seconds % 60))"
    }

    /// Returns the number of bytes in `text`, as `512`, `64K`, `1.5G` or `20MiB`, in steps of 1,024; nil for anything else.
    package static func count(of text: String) -> UInt64? {
        var digits = text.uppercased()[...]
        if digits.ends(with: "IB") {
            digits = digits.dropLast(2)
        } else if digits.ends(with: "B") {
            digits.removeLast()
        }
        var factor = 1.0
        if let unit = digits.last.flatMap("KMGT".firstIndex) {
            let steps = "KMGT".distance(from: "KMGT".startIndex, to: unit) + 1
            for _ in 0..<steps { factor *= 1_024 }
            digits.removeLast()
        }
        let isPlain = digits.allSatisfy { $0.isASCII && ($0.isNumber || $0 == ".") }
        guard isPlain, let number = Double(digits), number * factor < 0x1p63 else { return nil }
        return UInt64(number * factor)
    }

    private static func twoDigits(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }

    /// Two or more digits; halves go to the even neighbour, as in the functions of C.
    private static func rounded(_ value: Double) -> String {
        guard value < 10 else { return whole(value.rounded(.toNearestOrEven)) }
        let tenths = Int((value * 10).rounded(.toNearestOrEven))
        return "\(tenths / 10).\(tenths % 10)"
    }

    private static func whole(_ value: Double) -> String { Int(exactly: value).map { "\($0)" } ?? "\(value)" }
}

extension Duration {
    package var seconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }
}
