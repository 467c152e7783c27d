#if Combine || Gateway
    // Apple's names are those of OpenCombine, one for one.
    @_exported public import OpenCombine
#endif
