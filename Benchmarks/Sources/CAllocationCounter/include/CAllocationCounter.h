#ifndef C_ALLOCATION_COUNTER_H
#define C_ALLOCATION_COUNTER_H

#include <stdint.h>

/// How often memory was asked for since the process began, by malloc or any of its relatives.
uint64_t allocation_count(void);

/// Hands memory that was freed back to the system, so that what is resident is what is in use.
void allocation_trim(void);

#endif
