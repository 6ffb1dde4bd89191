#if canImport(UIKit)
    import UIKit

    /// The screen of the chat: a list of messages, a line to type in, and the names of those who are here in the title.
    final class ChatViewController: UITableViewController, UITextFieldDelegate {
        private let chat = ChatService()
        private let field = UITextField()

        override func viewDidLoad() {
            super.viewDidLoad()
            tableView.register(UITableViewCell.self, forCellReuseIdentifier: "message")
            field.frame = CGRect(x: 0, y: 0, width: 0, height: 44)
            field.borderStyle = .roundedRect
            field.returnKeyType = .send
            field.delegate = self
            tableView.tableFooterView = field
            chat.delegate = self
            for (name, action) in [
                (UIApplication.didEnterBackgroundNotification, #selector(leave)),
                (UIApplication.willEnterForegroundNotification, #selector(enter)),
            ] {
                NotificationCenter.default.addObserver(self, selector: action, name: name, object: nil)
            }
            enter()
        }

        @objc private func enter() { chat.start() }
        @objc private func leave() { chat.stop() }

        func textFieldShouldReturn(_ textField: UITextField) -> Bool {
            chat.send(textField.text ?? "")
            textField.text = ""
            return true
        }

        override func tableView(_ tableView: UITableView, numberOfRowsInSection section: Int) -> Int {
            chat.messages.count
        }

        override func tableView(
            _ tableView: UITableView, cellForRowAt indexPath: IndexPath
        ) -> UITableViewCell {
            let cell = tableView.dequeueReusableCell(withIdentifier: "message", for: indexPath)
            let message = chat.messages[indexPath.row]
            cell.textLabel?.text = "\(message.author): \(message.text)"
            return cell
        }
    }

    extension ChatViewController: ChatServiceDelegate {
        func chat(_ chat: ChatService, didAdd message: ChatMessage) { tableView.reloadData() }

        func chat(_ chat: ChatService, didChangeRoster roster: [String]) {
            title = roster.joined(separator: ", ")
        }

        func chat(_ chat: ChatService, didFail text: String) {
            let alert = UIAlertController(title: nil, message: text, preferredStyle: .alert)
            alert.addAction(UIAlertAction(title: "OK", style: .default))
            present(alert, animated: true)
        }
    }
#endif
