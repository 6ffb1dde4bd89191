extension FuzzBody {
    package static let handshake = FuzzBody("handshake") { bytes throws(BrokenPromise) in
        try promise(bytes.count >= 0, "comes with its module")
    }
}
