extension [String] {
    /// A sentence that lists possible causes; empty if the list is empty.
    ///
    /// An error names a cause only if it is known. Otherwise it names the operation and the result, and ends with this
    /// sentence.
    package var asPossibleCauses: String { isEmpty ? "" : "Possible causes: \(joined(separator: "; "))." }
}
