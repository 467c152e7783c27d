/// The address of each of Kumulos' services.
public typealias ServiceUrlMap = [Service: String]
