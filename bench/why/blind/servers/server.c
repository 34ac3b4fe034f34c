// A web server with a thread for each connection. Each request runs the steps of the command line in order.
// Usage: server PORT [SETTING…] STEP… [-- BACKGROUND-STEP…]…
// Each group of steps after `--` runs again and again in a thread of its own.
//   settings  threads=N (connections served at once), processes=N, accept=US (delay before each accept), backlog=N, body=BYTES,
//             sndbuf=BYTES, close (ends each connection), slots=N (of `take`), file=PATH, collector=PATH (of `dgram`)
//   waiting   sleep=US, batch=COUNT,US (until so many requests wait, or so long), tick=US (one request for each tick), bucket=RATE
//   locks     lock, unlock, read, write, release, take, give, tenant=SLOTS (by the last character of the path), leave, flock, funlock
//   CPU       cpu=US, spin=US (until the spinlock is free), count=STRIDE, walk=MIB, alloc=COUNT, fault=KIB, nice=LEVEL
//   kernel    sync=BYTES, rename=BYTES (a new file, with its folder), log=BYTES, dgram=BYTES, call=PORT, connect=PORT, ask=PORT (UDP), run
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STEPS_MAX = 32, TENANTS = 256, BODY_MAX = 8 << 20 };

struct step {
    void (*run)(long, long);
    long a, b;
};
struct group {
    struct step steps[STEPS_MAX];
    int count;
};

static long threads_max, processes = 1, accept_us, backlog = 1024, body_bytes = 3, sndbuf, closes, slots = 1, tenant_slots = 1;
static const char *path, *collector;
static int file = -1;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
// Writers come before further readers.
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
static atomic_flag spinlock = ATOMIC_FLAG_INIT;
static sem_t free_slots, free_threads, tenants[TENANTS];
static __thread unsigned char tenant;
static __thread unsigned number;
static __thread int dependency = -1;
static char filler[BODY_MAX];

static void die(const char *what) {
    perror(what);
    exit(1);
}

static int64_t now_us(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec * 1000000LL + time.tv_nsec / 1000;
}

static void step_sleep(long us, long unused) {
    struct timespec time = {us / 1000000, us % 1000000 * 1000};
    while (nanosleep(&time, &time) == -1 && errno == EINTR) {}
}

static void step_cpu(long us, long unused) {
    int64_t end = now_us(CLOCK_THREAD_CPUTIME_ID) + us;
    while (now_us(CLOCK_THREAD_CPUTIME_ID) < end) {
        for (volatile int i = 0; i < 2000; i++) {}
    }
}

static void step_nice(long level, long unused) { setpriority(PRIO_PROCESS, syscall(SYS_gettid), level); }
static void step_lock(long a, long b) { pthread_mutex_lock(&mutex); }
static void step_unlock(long a, long b) { pthread_mutex_unlock(&mutex); }
static void step_read(long a, long b) { pthread_rwlock_rdlock(&rwlock); }
static void step_write(long a, long b) { pthread_rwlock_wrlock(&rwlock); }
static void step_release(long a, long b) { pthread_rwlock_unlock(&rwlock); }
static void step_take(long a, long b) { while (sem_wait(&free_slots)) {} }
static void step_give(long a, long b) { sem_post(&free_slots); }
static void step_tenant(long a, long b) { while (sem_wait(&tenants[tenant])) {} }
static void step_leave(long a, long b) { sem_post(&tenants[tenant]); }

// Each thread locks a descriptor of its own, as each process does.
static __thread int locked = -1;
static void step_flock(long a, long b) {
    if (locked < 0 && (locked = open(path, O_RDWR | O_CREAT, 0600)) < 0) die(path);
    while (flock(locked, LOCK_EX)) {}
}
static void step_funlock(long a, long b) { flock(locked, LOCK_UN); }

static void step_spin(long us, long unused) {
    while (atomic_flag_test_and_set(&spinlock)) {}
    step_cpu(us, 0);
    atomic_flag_clear(&spinlock);
}

// Requests wait together until the batch is full, or until its first one has waited long enough.
static void step_batch(long size, long us) {
    static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
    static pthread_cond_t done = PTHREAD_COND_INITIALIZER;
    static long waiting, batch;
    static int64_t since;
    pthread_mutex_lock(&guard);
    long mine = batch;
    if (!waiting++) since = now_us(CLOCK_REALTIME);
    int64_t end = since + us;
    struct timespec until = {end / 1000000, end % 1000000 * 1000};
    while (mine == batch) {
        if (waiting >= size || pthread_cond_timedwait(&done, &guard, &until) == ETIMEDOUT) {
            if (mine == batch) batch++, waiting = 0, pthread_cond_broadcast(&done);
        }
    }
    pthread_mutex_unlock(&guard);
}

// A poller looks every so often, and takes one request.
static sem_t ticks;
static void *ticker(void *us) {
    for (;;) {
        step_sleep((long)us, 0);
        int value;
        if (!sem_getvalue(&ticks, &value) && value < 1) sem_post(&ticks);
    }
    return NULL;
}
static void step_tick(long us, long unused) {
    static atomic_flag is_started = ATOMIC_FLAG_INIT;
    pthread_t thread;
    if (!atomic_flag_test_and_set(&is_started)) pthread_create(&thread, NULL, ticker, (void *)us);
    while (sem_wait(&ticks)) {}
}

static void step_bucket(long rate, long unused) {
    static _Atomic int64_t next;
    int64_t now = now_us(CLOCK_MONOTONIC), was = next, turn;
    do turn = was > now ? was : now;
    while (!atomic_compare_exchange_weak(&next, &was, turn + 1000000 / rate));
    if (turn > now) step_sleep(turn - now, 0);
}

// Threads count in places that lie so many bytes apart.
static void step_count(long stride, long unused) {
    static _Alignas(4096) char places[64 * 256];
    atomic_long *place = (atomic_long *)(places + number % 64 * stride);
    for (int i = 0; i < 100000; i++) atomic_fetch_add_explicit(place, 1, memory_order_relaxed);
}

// Follows a chain of random places.
static void step_walk(long mib, long unused) {
    static uint32_t *next;
    static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
    uint32_t places = mib * (1 << 20) / 64;
    pthread_mutex_lock(&guard);
    if (!next) {
        next = malloc(places * 64ULL);
        // A full cycle: a linear congruential sequence over a power of two.
        for (uint32_t i = 0, at = 0; i < places; i++) {
            uint32_t to = (at * 1664525u + 1013904223u) % places;
            next[at * 16ULL] = to;
            at = to;
        }
    }
    pthread_mutex_unlock(&guard);
    uint32_t at = number * 7919 % places;
    for (int i = 0; i < 20000; i++) at = next[at * 16ULL];
    if (at == UINT32_MAX) puts("");
}

static void step_alloc(long count, long unused) {
    void *kept[64] = {0};
    for (long i = 0; i < count; i++) {
        free(kept[i % 64]);
        kept[i % 64] = malloc(2000 + i * 97 % 6000);
    }
    for (int i = 0; i < 64; i++) free(kept[i]);
}

static void step_fault(long kib, long unused) {
    char *pages = mmap(NULL, kib << 10, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) die("mmap");
    for (long at = 0; at < kib << 10; at += 4096) pages[at] = 1;
    munmap(pages, kib << 10);
}

static void step_sync(long bytes, long unused) {
    if (write(file, filler, bytes) != bytes || fdatasync(file)) die("sync");
}

static void step_rename(long bytes, long unused) {
    char from[512], to[512], folder[512];
    snprintf(from, sizeof from, "%s.%d.%u.new", path, getpid(), number);
    snprintf(to, sizeof to, "%s.%d.%u", path, getpid(), number);
    snprintf(folder, sizeof folder, "%s", path);
    int new = open(from, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (new < 0 || write(new, filler, bytes) != bytes || fsync(new) || close(new) || rename(from, to)) die(from);
    int parent = open(dirname(folder), O_RDONLY);
    if (parent < 0 || fsync(parent) || close(parent)) die(folder);
}

static void step_log(long bytes, long unused) {
    for (long sent = 0; sent < bytes;) {
        ssize_t wrote = write(1, filler, bytes - sent);
        if (wrote < 0) die("log");
        sent += wrote;
    }
}

static void step_dgram(long bytes, long unused) {
    static __thread int socket_of_thread = -1;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", collector);
    if (socket_of_thread < 0) socket_of_thread = socket(AF_UNIX, SOCK_DGRAM, 0);
    // The collector may not be there yet.
    while (sendto(socket_of_thread, filler, bytes, 0, (struct sockaddr *)&address, sizeof address) < 0) step_sleep(1000, 0);
}

static int connected(long port, int kind) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int peer = socket(AF_INET, kind, 0), on = 1;
    if (kind == SOCK_STREAM) setsockopt(peer, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (peer < 0 || connect(peer, (struct sockaddr *)&address, sizeof address)) die("connect");
    return peer;
}

static void exchange(int peer) {
    static const char request[] = "GET / HTTP/1.1\r\nHost: dependency\r\n\r\n";
    char reply[65536];
    if (write(peer, request, sizeof request - 1) < 0 || read(peer, reply, sizeof reply) <= 0) die("dependency");
}

static void step_call(long port, long unused) {
    if (dependency < 0) dependency = connected(port, SOCK_STREAM);
    exchange(dependency);
}

static void step_connect(long port, long unused) {
    int peer = connected(port, SOCK_STREAM);
    exchange(peer);
    close(peer);
}

static void step_ask(long port, long unused) {
    int peer = connected(port, SOCK_DGRAM);
    char reply[512];
    // The name server may not be there yet.
    while (write(peer, "name", 4) < 0 || read(peer, reply, sizeof reply) <= 0) step_sleep(1000, 0);
    close(peer);
}

static void step_run(long a, long b) {
    extern char **environ;
    char *words[] = {"true", NULL};
    pid_t child;
    if (posix_spawnp(&child, "true", NULL, NULL, words, environ)) die("true");
    waitpid(child, NULL, 0);
}

static const struct {
    const char *name;
    void (*run)(long, long);
} STEPS[] = {
    {"sleep", step_sleep}, {"batch", step_batch}, {"tick", step_tick}, {"bucket", step_bucket}, {"lock", step_lock},
    {"unlock", step_unlock}, {"read", step_read}, {"write", step_write}, {"release", step_release}, {"take", step_take},
    {"give", step_give}, {"tenant", step_tenant}, {"leave", step_leave}, {"flock", step_flock}, {"funlock", step_funlock},
    {"cpu", step_cpu}, {"spin", step_spin}, {"count", step_count}, {"walk", step_walk}, {"alloc", step_alloc}, {"fault", step_fault},
    {"nice", step_nice}, {"sync", step_sync}, {"rename", step_rename}, {"log", step_log}, {"dgram", step_dgram}, {"call", step_call},
    {"connect", step_connect}, {"ask", step_ask}, {"run", step_run},
};

static void add_step(struct group *group, const char *word) {
    size_t length = strcspn(word, "=");
    const char *values = word[length] ? word + length + 1 : "0", *second = strchr(values, ',');
    for (size_t i = 0; i < sizeof STEPS / sizeof *STEPS; i++) {
        if (strlen(STEPS[i].name) != length || strncmp(word, STEPS[i].name, length)) continue;
        if (group->count == STEPS_MAX) break;
        group->steps[group->count++] = (struct step){STEPS[i].run, atol(values), second ? atol(second + 1) : 0};
        if (STEPS[i].run == step_tenant) tenant_slots = atol(values);
        return;
    }
    fprintf(stderr, "server: no step %s\n", word);
    exit(2);
}

static int set(const char *word) {
    static const struct {
        const char *name;
        long *value;
    } SETTINGS[] = {
        {"threads=", &threads_max}, {"processes=", &processes}, {"accept=", &accept_us}, {"backlog=", &backlog}, {"body=", &body_bytes},
        {"sndbuf=", &sndbuf}, {"slots=", &slots},
    };
    for (size_t i = 0; i < sizeof SETTINGS / sizeof *SETTINGS; i++) {
        size_t length = strlen(SETTINGS[i].name);
        if (!strncmp(word, SETTINGS[i].name, length)) return *SETTINGS[i].value = atol(word + length), 1;
    }
    if (!strncmp(word, "file=", 5)) return path = word + 5, 1;
    if (!strncmp(word, "collector=", 10)) return collector = word + 10, 1;
    return !strcmp(word, "close") && (closes = 1);
}

static struct group requests, backgrounds[8];
static int background_count;

static void run(struct group *group) {
    for (int i = 0; i < group->count; i++) group->steps[i].run(group->steps[i].a, group->steps[i].b);
}

static void *work(void *group) {
    for (;;) run(group);
    return NULL;
}

static int answer(int client) {
    // A client may take what one read gives for the whole reply, so that a short one leaves in one piece.
    char reply[4096];
    int head = snprintf(reply, sizeof reply, "HTTP/1.1 200 OK\r\nContent-Length: %ld\r\n%s\r\n", body_bytes, closes ? "Connection: close\r\n" : "");
    long first = body_bytes < (long)sizeof reply - head ? body_bytes : (long)sizeof reply - head;
    memset(reply + head, 'x', first);
    if (write(client, reply, head + first) != head + first) return 0;
    for (long sent = first; sent < body_bytes;) {
        ssize_t wrote = write(client, filler, body_bytes - sent);
        if (wrote <= 0) return 0;
        sent += wrote;
    }
    return !closes;
}

static void *serve(void *argument) {
    static atomic_uint last;
    int client = (int)(intptr_t)argument, on = 1;
    number = last++;
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    char request[8192];
    size_t length = 0;
    for (;;) {
        ssize_t got = read(client, request + length, sizeof request - 1 - length);
        if (got <= 0) break;
        length += got;
        request[length] = 0;
        if (!strstr(request, "\r\n\r\n")) {
            if (length == sizeof request - 1) break;
            continue;
        }
        // "GET /a HTTP/1.1": the tenant is the character before the second space.
        char *space = strchr(request + 5, ' ');
        if (space) tenant = space[-1];
        length = 0;
        run(&requests);
        if (!answer(client)) break;
    }
    close(client);
    if (dependency >= 0) close(dependency);
    if (locked >= 0) close(locked);
    if (threads_max) sem_post(&free_threads);
    return NULL;
}

static int listening(int port) {
    int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (sndbuf) setsockopt(listener, SOL_SOCKET, SO_SNDBUF, &(int){sndbuf}, sizeof(int));
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, backlog)) die("listen");
    return listener;
}

static void serve_all(int listener) {
    for (;;) {
        if (threads_max) while (sem_wait(&free_threads)) {}
        if (accept_us) step_sleep(accept_us, 0);
        int client = accept(listener, NULL, NULL);
        pthread_t thread;
        if (client < 0 || pthread_create(&thread, NULL, serve, (void *)(intptr_t)client)) die("accept");
        pthread_detach(thread);
    }
}

int main(int count, char **arguments) {
    if (count < 2) {
        fprintf(stderr, "usage: server PORT [SETTING…] STEP… [-- BACKGROUND-STEP…]…\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    memset(filler, 'x', sizeof filler);
    struct group *group = &requests;
    for (int i = 2; i < count; i++) {
        if (!strcmp(arguments[i], "--")) group = &backgrounds[background_count++];
        else if (!set(arguments[i])) add_step(group, arguments[i]);
    }
    sem_init(&ticks, 0, 0);
    sem_init(&free_slots, 0, slots);
    sem_init(&free_threads, 0, threads_max);
    for (int i = 0; i < TENANTS; i++) sem_init(&tenants[i], 0, tenant_slots);
    int listener = listening(atoi(arguments[1]));
    if (path && (file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600)) < 0) die(path);
    for (long i = 1; i < processes; i++) {
        if (!fork()) serve_all(listener);
    }
    for (int i = 0; i < background_count; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, work, &backgrounds[i])) die("background");
    }
    serve_all(listener);
}
