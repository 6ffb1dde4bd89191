#if canImport(UIKit)
    import MultipeerConnectivity
    import UIKit
    import UniformTypeIdentifiers

    /// The screen: two buttons, one to choose devices and one to choose files, and a line for each transfer.
    final class DropViewController: UITableViewController {
        private let serviceType = "acme-drop"
        private var transfers: [UUID: Transfer] = [:]
        private lazy var drop = DropService(
            name: UIDevice.current.name, serviceType: serviceType,
            folder: FileManager.default.urls(for: .documentDirectory, in: .userDomainMask)[0])

        override func viewDidLoad() {
            super.viewDidLoad()
            tableView.register(UITableViewCell.self, forCellReuseIdentifier: "transfer")
            navigationItem.leftBarButtonItem = UIBarButtonItem(
                title: "Devices", style: .plain, target: self, action: #selector(chooseDevices))
            navigationItem.rightBarButtonItem = UIBarButtonItem(
                barButtonSystemItem: .add, target: self, action: #selector(chooseFiles))
            drop.delegate = self
            drop.assistant.start()
        }

        @objc private func chooseDevices() {
            let browser = MCBrowserViewController(serviceType: serviceType, session: drop.session)
            browser.delegate = self
            present(browser, animated: true)
        }

        @objc private func chooseFiles() {
            let picker = UIDocumentPickerViewController(forOpeningContentTypes: [.data], asCopy: true)
            picker.delegate = self
            present(picker, animated: true)
        }

        override func tableView(_ tableView: UITableView, numberOfRowsInSection section: Int) -> Int {
            transfers.count
        }

        override func tableView(
            _ tableView: UITableView, cellForRowAt indexPath: IndexPath
        ) -> UITableViewCell {
            let cell = tableView.dequeueReusableCell(withIdentifier: "transfer", for: indexPath)
            let transfer = transfers.values.sorted { $0.name < $1.name }[indexPath.row]
            cell.textLabel?.text = "\(transfer.name), \(transfer.peer): \(Int(transfer.fraction * 100)) %"
            return cell
        }
    }

    extension DropViewController: DropServiceDelegate {
        func drop(_ drop: DropService, didChangePeers peers: [String]) {
            title = peers.joined(separator: ", ")
        }

        func drop(_ drop: DropService, didProgress transfer: Transfer) {
            transfers[transfer.id] = transfer
            tableView.reloadData()
        }

        func drop(_ drop: DropService, didFinish transfer: Transfer, file: URL?, error: Error?) {
            transfers[transfer.id] = nil
            tableView.reloadData()
        }
    }

    extension DropViewController: MCBrowserViewControllerDelegate {
        func browserViewControllerDidFinish(_ browserViewController: MCBrowserViewController) {
            dismiss(animated: true)
        }

        func browserViewControllerWasCancelled(_ browserViewController: MCBrowserViewController) {
            dismiss(animated: true)
        }
    }

    extension DropViewController: UIDocumentPickerDelegate {
        func documentPicker(_ controller: UIDocumentPickerViewController, didPickDocumentsAt urls: [URL]) {
            urls.forEach(drop.send)
        }
    }
#endif
