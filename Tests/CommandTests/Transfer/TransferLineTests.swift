import MultipeerCLI
import MultipeerCommandLine
import TestSupport
import Testing

@Suite("Command: the progress line", .computing)
struct TransferLineTests {
    private let line = TransferLine(
        name: "holiday.mov", completed: 450 << 20, total: 1 << 30, rate: 117.4 * 1_048_576, left: .seconds(12)
    )

    @Test(
        "a narrower line shows less, and never wraps",
        arguments: [
            (
                100,
                "holiday.mov  [#############-----------------]   43%  450 MiB of 1.0 GiB  117 MiB/s  0:12 left"
            ),
            (80, "holiday.mov  [#######----------]   43%  450 MiB of 1.0 GiB  117 MiB/s  0:12 left"),
            (70, "holiday.mov   43%  450 MiB of 1.0 GiB  117 MiB/s  0:12 left"),
            (50, "holiday.mov   43%  450 MiB of 1.0 GiB  117 MiB/s"),
            (40, "holiday.mov   43%  450 MiB of 1.0 GiB"),
            (20, "holiday.mov   43%"), (14, "hol..mov   43%"), (10, "h..v   43%"), (6, "ho..ov"), (2, ".."),
            (0, ""),
        ])
    func widths(_ width: Int, _ text: String) {
        #expect(line.render(width: width) == text)
    }

    @Test("the line fits every width, whatever the name is")
    func fits() {
        let names = [
            "a", "holiday.mov", "日本語のとても長い名前.txt", "e\u{301}\u{301}e", "👨‍👩‍👧👋🏽.png",
            String(repeating: "x", count: 1_000),
        ]
        for name in names {
            for total in [nil, 0, 1, 1 << 30, UInt64.max] {
                for width in 0...140 {
                    let line = TransferLine(
                        name: name, place: FilePosition(3, of: 12), completed: 7, total: total, rate: 1e18,
                        left: .seconds(Int64.max / 2))
                    #expect(line.render(width: width).columns <= width, "\(name) \(width)")
                }
            }
        }
    }

    @Test("100 percent is shown only when the peer has everything, and an unknown size has no percentage")
    func percent() {
        var line = line
        line.completed = 1 << 30
        #expect(line.render(width: 60).contains("  99%"))
        line.isOver = true
        #expect(line.render(width: 60).contains(" 100%"))
        line.total = 0
        #expect(line.render(width: 60).contains(" 100%"))
        line.total = nil
        line.left = nil
        #expect(line.render(width: 80) == "holiday.mov  1.0 GiB  117 MiB/s")
        line.place = FilePosition(2, of: 3)
        #expect(line.render(width: 80) == "2/3 holiday.mov  1.0 GiB  117 MiB/s")
    }

    @Test("a name cannot mislead on the terminal")
    func tricks() {
        var line = line
        line.name = "a\u{1b}[2J\r\u{202e}b"
        #expect(line.render(width: 120).hasPrefix("a\\u{1b}[2J\\u{d}\\u{202e}b  ["))
    }

    @Test("nonsensical numbers are shown without a crash", arguments: [-1, .infinity, .nan, 1e300])
    func nonsense(_ rate: Double) {
        let line = TransferLine(name: "a", completed: .max, total: 1, rate: rate, left: .seconds(-5))
        #expect(line.render(width: 80).columns <= 80)
    }
}

@Suite("Command: amounts", .computing)
struct HumanReadableTests {
    @Test(
        "sizes are read in the usual notations",
        arguments: [
            ("0", 0), ("512", 512), ("64K", 65_536), ("1.5G", 3 << 29), ("20MiB", 20 << 20),
            ("20mb", 20 << 20),
            ("7T", 7 << 40), ("10B", 10),
        ])
    func sizes(_ text: String, _ count: UInt64) {
        #expect(HumanReadable.count(of: text) == count)
    }

    @Test(
        "texts that are not sizes are refused",
        arguments: ["", "K", "-1", "1e9", "nan", "inf", "0x10", "1 G", "1.2.3", "9999999999T", "1X", "+5"])
    func noSizes(_ text: String) {
        #expect(HumanReadable.count(of: text) == nil)
    }

    @Test("bytes and times are printed briefly")
    func short() {
        #expect(HumanReadable.bytes(1_023) == "1023 B")
        #expect(HumanReadable.bytes(1_536) == "1.5 KiB")
        #expect(HumanReadable.bytes(UInt64.max) == "16 EiB")
        #expect(HumanReadable.clock(.seconds(3_723)) == "1:02:03")
        #expect(HumanReadable.clock(.seconds(59)) == "0:59")
    }
}
