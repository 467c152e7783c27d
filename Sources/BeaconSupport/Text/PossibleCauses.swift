extension [String] {
    /// The sentence that lists causes of which none is known to be the one; empty without any.
    ///
    /// An error names a cause only where it is known. Otherwise it says what was being done and what came back, and
    /// ends with this sentence.
    package var asPossibleCauses: String { isEmpty ? "" : "Possible causes: \(joined(separator: "; "))." }
}
