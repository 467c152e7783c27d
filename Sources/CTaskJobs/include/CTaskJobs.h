#pragma once

#include <stdbool.h>
#include <stdint.h>

// Jobs of Swift's default executor. The runtime has a hook that receives each job, and a call that runs one
// (swift/Runtime/Concurrency.h). Both use Swift's calling convention, which C can declare and Swift cannot.

// Makes the runtime call `take` for each job on its way to the default executor, on the submitting thread. If it
// returns true, it must make sure that beacon_run_job runs the job once. Otherwise Swift runs the job. `cause` is the
// cause of the job that runs on the thread, or null without one. If another library has set the hook, `take` is never
// called.
void beacon_offer_jobs(bool (*take)(void *job, const void *cause));

// Runs a job on this thread, as the default executor does. Jobs that it submits have this cause.
void beacon_run_job(void *job, const void *cause);

// Returns the number of the task that runs on this thread, which is never reused; 0 without a task.
uint64_t beacon_current_task(void);

// Returns the number of the task of a job; 0 for an actor's job.
uint64_t beacon_task_of_job(void *job);
