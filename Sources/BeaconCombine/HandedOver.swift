#if Combine || Gateway
    /// A wrapper that carries a non-Sendable value to a queue, a run loop or an observer.
    ///
    /// It is unchecked, since Combine's closures and subjects are not declared to be Sendable, not even on Apple's
    /// systems. A closure or subject that is passed on is used where the pipeline requested its calls, and subjects
    /// have their own locks.
    struct HandedOver<Value>: @unchecked Sendable {
        let value: Value

        init(_ value: Value) { self.value = value }
    }
#endif
