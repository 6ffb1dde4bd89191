extension FuzzBody {
    package static let certificateChain = FuzzBody("certificate-chain") { bytes throws(BrokenPromise) in
        try promise(bytes.count >= 0, "comes with its module")
    }
}
