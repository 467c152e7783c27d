// A qemu-user plugin that counts the instructions that a program executes, for each block that the emulator translates.
//
// It writes to the file in its argument to=PATH. The first line has the sum of all instructions. Each further line has
// a block's address relative to the program's code, its number of instructions, and how often it ran.
//
// Debian does not package qemu-plugin.h, so this file declares the parts of QEMU's plugin interface (version 1) that it
// uses.
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

struct qemu_plugin_tb;
typedef uint64_t qemu_plugin_id_t;
typedef void (*on_translation)(qemu_plugin_id_t, struct qemu_plugin_tb *);
typedef void (*on_execution)(unsigned processor, void *data);
typedef void (*on_exit_of_program)(qemu_plugin_id_t, void *data);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, on_translation);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *, on_execution, int registers, void *data);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t, on_exit_of_program, void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *);
uint64_t qemu_plugin_start_code(void);

EXPORT int qemu_plugin_version = 1;

struct block {
    uint64_t address, instructions, runs;
    struct block *next;
};

static struct block *blocks;
static const char *path;

// Atomic, since the program's threads are threads of the emulator.
static void count(unsigned processor, void *data) {
    (void)processor;
    struct block *block = data;
    __atomic_fetch_add(&block->runs, 1, __ATOMIC_RELAXED);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *translation) {
    (void)id;
    struct block *block = malloc(sizeof *block);
    if (!block) abort();
    *block = (struct block){qemu_plugin_tb_vaddr(translation), qemu_plugin_tb_n_insns(translation), 0, NULL};
    block->next = __atomic_load_n(&blocks, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&blocks, &block->next, block, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {}
    qemu_plugin_register_vcpu_tb_exec_cb(translation, count, 0, block);
}

static void ended(qemu_plugin_id_t id, void *data) {
    (void)id, (void)data;
    FILE *file = fopen(path, "w");
    if (!file) abort();
    uint64_t sum = 0;
    struct block *first = __atomic_load_n(&blocks, __ATOMIC_ACQUIRE);
    for (struct block *block = first; block; block = block->next) sum += block->instructions * block->runs;
    fprintf(file, "%" PRIu64 "\n", sum);
    for (struct block *block = first; block; block = block->next) {
        if (block->runs == 0) continue;
        fprintf(file, "%" PRId64 " %" PRIu64 " %" PRIu64 "\n", (int64_t)(block->address - qemu_plugin_start_code()),
                block->instructions, block->runs);
    }
    if (fclose(file) != 0) abort();
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const void *machine, int count, char **arguments) {
    (void)machine;
    if (count != 1 || strncmp(arguments[0], "to=", 3) != 0) return 1;
    path = strdup(arguments[0] + 3);
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, ended, NULL);
    return 0;
}
