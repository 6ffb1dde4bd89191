extension Suite {
    static let encryptionCases: [Case] = []
}
