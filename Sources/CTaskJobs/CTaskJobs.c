#include "CTaskJobs.h"

#include <stddef.h>

typedef void (*enqueue)(void *job) __attribute__((swiftcall));
typedef void (*enqueue_hook)(void *job, enqueue original) __attribute__((swiftcall));

extern enqueue_hook swift_task_enqueueGlobal_hook;
// An executor is a structure of two words, both zero for the default executor.
extern void swift_job_run(void *job, void *identity, const void *implementation) __attribute__((swiftcall));
extern void *swift_task_getCurrent(void) __attribute__((swiftcall));
extern uint64_t swift_task_getJobTaskId(void *task) __attribute__((swiftcall));

static bool (*offered)(void *job, const void *cause);
static _Thread_local const void *current_cause;

__attribute__((swiftcall)) static void offer_job(void *job, enqueue original) {
    if (!__atomic_load_n(&offered, __ATOMIC_ACQUIRE)(job, current_cause)) original(job);
}

void beacon_offer_jobs(bool (*take)(void *job, const void *cause)) {
    __atomic_store_n(&offered, take, __ATOMIC_RELEASE);
    enqueue_hook none = NULL;
    __atomic_compare_exchange_n(
        &swift_task_enqueueGlobal_hook, &none, offer_job, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

void beacon_run_job(void *job, const void *cause) {
    const void *before = current_cause;
    current_cause = cause;
    swift_job_run(job, NULL, NULL);
    current_cause = before;
}

uint64_t beacon_task_of_job(void *job) {
    return swift_task_getJobTaskId(job);
}

uint64_t beacon_current_task(void) {
    void *task = swift_task_getCurrent();
    return task ? beacon_task_of_job(task) : 0;
}
