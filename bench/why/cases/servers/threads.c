// A web server with a thread for each connection. What it does for a request is the second argument.
// Usage: threads PORT WORK [NUMBER [FILE]]
//   sleep MS      waits
//   cpu MS        computes
//   mutex MS      waits while it holds the one mutex
//   spin US       computes while it holds the one spinlock
//   sync BYTES    appends so many bytes to FILE, and has them written to the disk
//   direct BYTES  the same past the cache of the kernel, each write at another place of FILE
//   log BYTES     writes a line of so many bytes to its standard output
//   pages COUNT   reads so many random pages of FILE, which is mapped into memory
//   split 0       writes head and body of its answer one after the other, and leaves Nagle's algorithm on
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char HEAD[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\n";
static const char BODY[] = "ok\n";
static const char *work;
static long number;
static int file = -1;
static const volatile char *map;
static size_t map_size;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_flag spinlock = ATOMIC_FLAG_INIT;

static void die(const char *what) {
    perror(what);
    exit(1);
}

static void wait_us(long us) {
    struct timespec time = {us / 1000000, us % 1000000 * 1000};
    while (nanosleep(&time, &time) == -1 && errno == EINTR) {}
}

static int64_t used_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void compute_us(long us) {
    int64_t end = used_ns() + us * 1000;
    while (used_ns() < end) {
        for (volatile int i = 0; i < 2000; i++) {}
    }
}

static uint64_t random_below(uint64_t *state, uint64_t limit) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state % limit;
}

static void do_work(uint64_t *state, char *buffer) {
    if (!strcmp(work, "sleep")) wait_us(number * 1000);
    if (!strcmp(work, "cpu")) compute_us(number * 1000);
    if (!strcmp(work, "mutex")) {
        pthread_mutex_lock(&mutex);
        wait_us(number * 1000);
        pthread_mutex_unlock(&mutex);
    }
    if (!strcmp(work, "spin")) {
        while (atomic_flag_test_and_set(&spinlock)) {}
        compute_us(number);
        atomic_flag_clear(&spinlock);
    }
    if (!strcmp(work, "sync") && (write(file, buffer, number) != number || fdatasync(file))) die("sync");
    if (!strcmp(work, "direct")) {
        off_t at = random_below(state, map_size / number) * number;
        if (pwrite(file, buffer, number, at) != number) die("direct");
    }
    if (!strcmp(work, "log") && write(1, buffer, number) != number) die("log");
    if (!strcmp(work, "pages")) {
        char sum = 0;
        for (long i = 0; i < number; i++) sum += map[random_below(state, map_size / 4096) * 4096];
        buffer[0] = sum;
    }
}

static void *serve(void *argument) {
    int client = (int)(intptr_t)argument;
    int is_split = !strcmp(work, "split");
    int on = !is_split;
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    uint64_t state = 88172645463325252ULL + client;
    // Direct writes need an aligned buffer.
    char *buffer = aligned_alloc(4096, 65536);
    memset(buffer, 'x', 65536);
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
        length = 0;
        do_work(&state, buffer);
        char answer[sizeof HEAD + sizeof BODY];
        int size = snprintf(answer, sizeof answer, "%s%s", HEAD, BODY);
        ssize_t head = sizeof HEAD - 1;
        if (is_split) {
            if (write(client, answer, head) != head || write(client, answer + head, size - head) < 0) break;
        } else if (write(client, answer, size) != size) {
            break;
        }
    }
    free(buffer);
    close(client);
    return NULL;
}

int main(int count, char **arguments) {
    if (count < 3) {
        fprintf(stderr, "usage: threads PORT WORK [NUMBER [FILE]]\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    work = arguments[2];
    number = count > 3 ? atol(arguments[3]) : 0;
    if (count > 4) {
        int direct = strcmp(work, "direct") ? 0 : O_DIRECT;
        file = open(arguments[4], O_RDWR | O_CREAT | direct, 0600);
        struct stat stat;
        if (file < 0 || fstat(file, &stat)) die(arguments[4]);
        map_size = stat.st_size;
        if (!strcmp(work, "pages")) {
            void *mapped = mmap(NULL, map_size, PROT_READ, MAP_SHARED, file, 0);
            if (mapped == MAP_FAILED) die("mmap");
            madvise(mapped, map_size, MADV_RANDOM);
            map = mapped;
        }
    }
    int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(arguments[1]))};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 1024)) die("listen");
    for (;;) {
        int client = accept(listener, NULL, NULL);
        pthread_t thread;
        if (client < 0) {
            // Out of files, such as: those that are open may be closed soon.
            wait_us(1000);
        } else if (pthread_create(&thread, NULL, serve, (void *)(intptr_t)client)) {
            close(client);
        } else {
            pthread_detach(thread);
        }
    }
}
