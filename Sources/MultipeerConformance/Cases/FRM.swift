extension Suite {
    static let frameCases: [Case] = []
}
