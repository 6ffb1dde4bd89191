extension Suite {
    static let messageCases: [Case] = []
}
