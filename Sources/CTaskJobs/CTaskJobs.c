#include "CTaskJobs.h"

#include <stddef.h>

typedef void (*enqueue)(void *job) __attribute__((swiftcall));
typedef void (*enqueue_hook)(void *job, enqueue original) __attribute__((swiftcall));

extern enqueue_hook swift_task_enqueueGlobal_hook;
// The executor is a structure of two words, which are zero for the default one.
extern void swift_job_run(void *job, void *identity, const void *implementation) __attribute__((swiftcall));

static void (*taker)(void *job, const void *cause);
static _Thread_local const void *current_cause;

__attribute__((swiftcall)) static void take_job(void *job, enqueue original) {
    (void)original;
    taker(job, current_cause);
}

void beacon_take_jobs(void (*take)(void *job, const void *cause)) {
    taker = take;
    __atomic_store_n(&swift_task_enqueueGlobal_hook, take_job, __ATOMIC_RELEASE);
}

void beacon_run_job(void *job, const void *cause) {
    const void *before = current_cause;
    current_cause = cause;
    swift_job_run(job, NULL, NULL);
    current_cause = before;
}
