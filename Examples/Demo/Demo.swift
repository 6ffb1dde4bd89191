import MultipeerCommandLine

/// The program `multipeer-demo`.
@main
enum Demo {
    static func main() {
        CommandProgram(
            "multipeer-demo", "Real processes that find each other, link and talk.", [DemoCommand.self],
            hidden: [DemoPeerCommand.self]
        ).main()
    }
}
