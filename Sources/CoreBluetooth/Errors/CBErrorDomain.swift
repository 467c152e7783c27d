/// The domain of ``CBError``.
public let CBErrorDomain = "CBErrorDomain"

/// The domain of ``CBATTError``.
public let CBATTErrorDomain = "CBATTErrorDomain"
