import MultipeerCommandLine
import TestSupport
import Testing

@Suite("Command: text that fits a terminal", .computing)
struct ColumnsTests {
    @Test(
        "a line that is too long ends at a space, and nothing else changes",
        arguments: [
            ("short", "short"), ("", ""), ("one two three", "one two\nthree"),
            ("ab  cdefghi", "ab \ncdefghi"),
            ("  indented text", "  indented\ntext"),
            ("a-word-that-is-too-long b", "a-word-that-is-too-long\nb"),
            ("first line\nsecond", "first line\nsecond"),
            ("run 'a b c' now", "run\n'a b c'\nnow"), ("x ('a b'), y", "x ('a b'),\ny"),
            ("x 'ann' and y", "x 'ann'\nand y"), ("a peer's own name's", "a peer's\nown name's"),
            ("x 'much too long one' y", "x 'much\ntoo long\none' y"), ("an 'open quote", "an 'open\nquote"),
            ("日本語 日本語", "日本語\n日本語"),
        ])
    func broken(_ text: String, _ expected: String) {
        #expect(Columns.broken(text, width: 10) == expected)
    }
}
