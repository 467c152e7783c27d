#if Combine || Gateway
    // OpenCombine has the same names as Combine.
    @_exported public import OpenCombine
#else
    #error("Combine needs a trait: .package(…, traits: [\"Combine\"])")
#endif
