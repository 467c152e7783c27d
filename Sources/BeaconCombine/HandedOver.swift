#if Combine || Gateway
    /// A value that is not Sendable, on its way to a queue, a run loop or an observer.
    ///
    /// It is unchecked, since Combine's closures and subjects are not declared to be Sendable, on Apple's systems
    /// either. A closure or a subject that is handed over is used where the pipeline asked to be called, and subjects
    /// lock themselves.
    struct HandedOver<Value>: @unchecked Sendable {
        let value: Value

        init(_ value: Value) { self.value = value }
    }
#endif
