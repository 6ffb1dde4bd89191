import MultipeerCommandLine

/// Paths that lead elsewhere or cannot be shown, with the reason why they are refused.
enum HostilePaths {
    private static let long = String(repeating: "n", count: 256)
    private static let deep = (0...64).map { _ in "d" }.joined(separator: "/")
    private static let tooLong = (0..<5).map { _ in String(repeating: "p", count: 200) }.joined(
        separator: "/")

    static let all: [(String, RelativePath.Fault)] = [
        ("", .empty), ("/", .absolute), ("//", .absolute), ("/etc/passwd", .absolute),
        ("/album/x", .absolute),
        ("..", .dots), (".", .dots), ("../x", .dots), ("./x", .dots), ("a/..", .dots), ("a/.", .dots),
        ("a/../x", .dots), ("a/./x", .dots), ("a/../../x", .dots), ("a/b/../../../x", .dots),
        ("a/..//x", .dots), ("../../../../etc/cron.d/x", .dots), ("a/../.ssh/authorized_keys", .dots),
        ("a//b", .emptyName), ("a/", .emptyName), ("a//", .emptyName), ("a///b", .emptyName),
        ("a/b/", .emptyName), ("a\u{0}b/c", .control), ("a/b\u{0}", .control), ("a/\u{0}", .control),
        ("a/..\u{0}/x", .control), ("a/b\nc", .control), ("a\nb/c", .control), ("a/b\r", .control),
        ("a/\u{1b}[2J", .control), ("a/b\u{7f}", .control), ("a/\u{85}x", .control),
        ("a/\u{9b}x", .control),
        ("a/b\tc", .control), ("a/\u{202e}gpj.exe", .control), ("a/\u{2066}x", .control),
        ("a/\u{200f}x", .control), ("a/\u{61c}x", .control), ("a/b\u{2028}c", .control),
        ("a/b\u{2029}c", .control), ("a/\u{fffd}", .control), ("a/\u{ffff}x", .control),
        // Nothing of the name shows.
        ("a/\u{3164}", .control), ("a/ \u{2800}", .control), ("\u{115f}\u{3164}/x", .control),
        ("a/...", .ending), ("a/x.", .ending), ("a./x", .ending),
        ("a /x", .ending),
        ("a/x ", .ending), ("a/ ", .ending), (" /x", .ending), ("a/.. ", .ending), ("a/.. /x", .ending),
        ("a/. ", .ending), (". /x", .ending), ("a/" + long, .longName), (long + "/a", .longName),
        ("a/x.0123456789abcdef.multipeer-part", .reserved),
        ("multipeer-aaaaaaaa-bbbbbbbb.part/x", .reserved),
        (deep, .deep), (tooLong, .long), (String(repeating: "/", count: 961), .absolute),
        (String(repeating: "a/", count: 481), .long), (String(repeating: "a/", count: 100), .deep),
    ]
}
