#if Combine || Gateway
    // OpenCombine has the same names as Combine.
    @_exported public import OpenCombine
#else
    #error("Combine needs .package(…, traits: [\"Combine\"]). In a checkout: swift build --traits Gateway")
#endif
