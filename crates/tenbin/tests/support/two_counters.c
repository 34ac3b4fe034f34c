/* A server that spends about two thirds of its CPU time in two functions that count. It counts the CPU time of each function by
   the clock of its threads, and writes the shares into a file when it is stopped. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static atomic_long requests, bytes;
static atomic_llong in_requests_ns, in_bytes_ns, in_all_ns;
static volatile long page;
static long rounds = 100000;

__attribute__((noinline)) void count_requests(void) {
    for (long round = 0; round < rounds; round++) atomic_fetch_add(&requests, 1);
}

__attribute__((noinline)) void count_bytes(void) {
    for (long round = 0; round < rounds * 8 / 10; round++) atomic_fetch_add(&bytes, 1);
}

__attribute__((noinline)) void render_page(void) {
    for (long round = 0; round < rounds / 20; round++) page += round;
}

static long long cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void *serve(void *connection) {
    int fd = (int)(long)connection;
    char request[4096];
    const char *reply = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    while (read(fd, request, sizeof request) > 0) {
        long long from = cpu_ns();
        count_requests();
        long long second = cpu_ns();
        count_bytes();
        long long third = cpu_ns();
        /* How long an atomic addition takes differs by processor: the page takes a third of the time of both counters. */
        do render_page();
        while (cpu_ns() - third < (third - from) / 3);
        in_requests_ns += second - from;
        in_bytes_ns += third - second;
        in_all_ns += cpu_ns() - from;
        if (write(fd, reply, strlen(reply)) < 0) break;
    }
    close(fd);
    return 0;
}

static sigset_t ending;

static void *write_shares(void *path) {
    int signal;
    sigwait(&ending, &signal);
    FILE *file = fopen(path, "w");
    if (file) {
        double all = (double)in_all_ns;
        fprintf(file, "%f %f\n", in_requests_ns / all, in_bytes_ns / all);
        fclose(file);
    }
    _exit(0);
}

int main(int count, char **words) {
    if (count != 3) return 2;
    sigemptyset(&ending);
    sigaddset(&ending, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &ending, 0);
    pthread_t thread;
    pthread_create(&thread, 0, write_shares, words[2]);
    int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    struct sockaddr_in at = {
        .sin_family = AF_INET, .sin_port = htons(atoi(words[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 128)) return 1;
    for (;;) {
        int fd = accept(listener, 0, 0);
        if (fd < 0) continue;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        pthread_create(&thread, 0, serve, (void *)(long)fd);
        pthread_detach(thread);
    }
}
