import Foundation

@main struct FileDrop {
    static func main() {
        var words = Array(CommandLine.arguments.dropFirst())
        var serviceType = "acme-drop"
        if let index = words.firstIndex(of: "--service"), index + 1 < words.count {
            serviceType = words[index + 1]
            words.removeSubrange(index...index + 1)
        }
        guard (2...3).contains(words.count) else {
            DropTerminal.show("usage: port-file-drop NAME FOLDER [FILE] [--service TYPE]")
            exit(2)
        }
        let file = words.count > 2 ? URL(fileURLWithPath: words[2]) : nil
        let terminal = DropTerminal(
            name: words[0], folder: URL(fileURLWithPath: words[1]), file: file, serviceType: serviceType)
        terminal.start()
        withExtendedLifetime(terminal) { RunLoop.main.run() }
    }
}
