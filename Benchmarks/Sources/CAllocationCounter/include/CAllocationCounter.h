#ifndef C_ALLOCATION_COUNTER_H
#define C_ALLOCATION_COUNTER_H

#include <stdint.h>

/// Returns the number of calls of malloc and its relatives since the process began.
uint64_t allocation_count(void);

/// Returns freed memory to the system, so that all resident memory is in use.
void allocation_trim(void);

#endif
