import Foundation

/// What the view controller was: lines that are typed are sent, and everything else is printed.
@main final class ChatTerminal {
    private let chat: ChatService

    private init(_ arguments: [String]) {
        switch arguments.count {
        case 0: chat = ChatService()
        case 1: chat = ChatService(name: arguments[0])
        default: chat = ChatService(name: arguments[0], serviceType: arguments[1])
        }
        chat.delegate = self
        chat.start()
    }

    static func main() {
        let terminal = ChatTerminal(Array(CommandLine.arguments.dropFirst()))
        // Reading blocks, and the main queue must run: browsers and advertisers call their delegates there.
        Thread.detachNewThread {
            while let line = readLine() { DispatchQueue.main.async { terminal.chat.send(line) } }
            DispatchQueue.main.async {
                terminal.chat.stop()
                exit(0)
            }
        }
        RunLoop.main.run()
    }

    private func show(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
}

extension ChatTerminal: ChatServiceDelegate {
    func chat(_ chat: ChatService, didAdd message: ChatMessage) {
        show("\(message.author): \(message.text)")
    }

    func chat(_ chat: ChatService, didChangeRoster roster: [String]) {
        show(roster.isEmpty ? "* you are alone" : "* here: \(roster.joined(separator: ", "))")
    }

    func chat(_ chat: ChatService, didFail text: String) { show("* \(text)") }
}
