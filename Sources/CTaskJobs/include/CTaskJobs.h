#pragma once

#include <stdbool.h>
#include <stdint.h>

// Jobs of Swift's default executor. The runtime offers a hook through which each of them comes, and a call that runs one
// (swift/Runtime/Concurrency.h); both are of Swift's own calling convention, which C can name and Swift cannot.

// Has `take` called for each job on its way to the default executor, on the thread that submits it. Where it returns true,
// it has to see to it that beacon_run_job runs the job once. Else Swift runs it. `cause` is that of the job that runs on the
// thread; null where none does. The hook of another library stays: then `take` is not called.
void beacon_offer_jobs(bool (*take)(void *job, const void *cause));

// Runs a job on this thread, as the default executor does. Jobs that it submits have this cause.
void beacon_run_job(void *job, const void *cause);

// Returns the number of the task that runs on this thread, which no other task ever has; 0 where none does.
uint64_t beacon_current_task(void);

// Returns the number of the task that a job belongs to; 0 for an actor's.
uint64_t beacon_task_of_job(void *job);
