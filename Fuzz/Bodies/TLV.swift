extension FuzzBody {
    package static let tlv = FuzzBody("tlv") { bytes throws(BrokenPromise) in
        try promise(bytes.count >= 0, "comes with its module")
    }
}
