/* Memory of tensors with a page behind its end that nobody may touch: preloaded, it takes posix_memalign's place.

   Each piece ends exactly where an unmapped page begins (to four bytes), so that a kernel that reads or writes one
   element too many ends the process. A page that nobody may touch lies in front of it, too. Alignment beyond four bytes
   is not given: kernels must not count on more than NumPy's arrays have. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

extern void __libc_free(void *);
extern void *__libc_memalign(size_t, size_t);

#define SLOTS (1 << 16)
static struct { void *start, *base; size_t size; } slots[SLOTS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long used, made;
static int on;

void guard_pages_on(int value) { on = value; }
long guard_pages_made(void) { return made; }

static size_t hash(void *p) { return ((uintptr_t)p >> 2) * 2654435761u % SLOTS; }

int posix_memalign(void **out, size_t alignment, size_t size) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), inner = (size + page - 1) / page * page, whole = inner + 2 * page;
    char *base;
    if (!on || size == 0 || used > SLOTS / 2) {
        *out = __libc_memalign(alignment, size);
        return *out ? 0 : ENOMEM;
    }
    base = mmap(NULL, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED || mprotect(base + page, inner, PROT_READ | PROT_WRITE))
        return ENOMEM;
    *out = (void *)((uintptr_t)(base + page + inner - size) / 4 * 4);
    pthread_mutex_lock(&lock);
    for (size_t i = hash(*out);; i = (i + 1) % SLOTS)
        if (!slots[i].start || slots[i].start == (void *)1) {
            slots[i].start = *out, slots[i].base = base, slots[i].size = whole, used++, made++;
            break;
        }
    pthread_mutex_unlock(&lock);
    return 0;
}

void free(void *p) {
    if (p && used) {
        pthread_mutex_lock(&lock);
        for (size_t i = hash(p), n = 0; slots[i].start && n < SLOTS; i = (i + 1) % SLOTS, n++)
            if (slots[i].start == p) {
                void *base = slots[i].base;
                size_t size = slots[i].size;
                slots[i].start = (void *)1, used--;
                pthread_mutex_unlock(&lock);
                munmap(base, size);
                return;
            }
        pthread_mutex_unlock(&lock);
    }
    __libc_free(p);
}
