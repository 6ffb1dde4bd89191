extension FuzzBody {
    package static let connectionData = FuzzBody("connection-data") { bytes throws(BrokenPromise) in
        try promise(bytes.count >= 0, "comes with its module")
    }
}
