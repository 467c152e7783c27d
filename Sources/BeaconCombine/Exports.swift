#if Combine || Gateway
    // Apple's names are those of OpenCombine, one for one.
    @_exported public import OpenCombine
#else
    #error("Combine needs a trait: .package(…, traits: [\"Combine\"])")
#endif
