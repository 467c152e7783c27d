#pragma once

// Jobs of Swift's default executor. The runtime offers a hook through which each of them comes, and a call that runs one
// (swift/Runtime/Concurrency.h); both are of Swift's own calling convention, which C can name and Swift cannot.

// Has `take` called for each job on its way to the default executor, on the thread that submits it. `take` has to see to it
// that the job is run once, by beacon_run_job. `cause` is that of the job that runs on the thread; null where none does.
void beacon_take_jobs(void (*take)(void *job, const void *cause));

// Runs a job on this thread, as the default executor does. Jobs that it submits have this cause.
void beacon_run_job(void *job, const void *cause);
