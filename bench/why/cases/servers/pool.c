// A web server with one thread for its connections and a pool of workers, each of which waits for every request.
// Usage: pool PORT WORKERS MS [QUEUE [GIVE-UP-MS]]
//   QUEUE       requests that may wait for a worker; further ones are answered 503 at once (0: any number may wait)
//   GIVE-UP-MS  a request that waits longer for a worker is answered 503
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { CLIENTS_MAX = 4096 };
static const char OK[] = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n";
static const char BUSY[] = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 5\r\n\r\nbusy\n";
static struct { int client; int64_t since_ms; } queue[CLIENTS_MAX];
static unsigned first, last;
static long wait_ms, queue_max, give_up_ms;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t some = PTHREAD_COND_INITIALIZER;

static int64_t now_ms(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000LL + time.tv_nsec / 1000000;
}

static void answer(int client, const char *text) {
    if (write(client, text, strlen(text)) < 0) shutdown(client, SHUT_RDWR);
}

static void *worker(void *unused) {
    struct timespec time = {wait_ms / 1000, wait_ms % 1000 * 1000000};
    for (;;) {
        pthread_mutex_lock(&mutex);
        while (first == last) pthread_cond_wait(&some, &mutex);
        int client = queue[first++ % CLIENTS_MAX].client;
        pthread_mutex_unlock(&mutex);
        nanosleep(&time, NULL);
        answer(client, OK);
    }
    return unused;
}

static void enqueue(int client) {
    pthread_mutex_lock(&mutex);
    int is_full = last - first >= (queue_max ? (unsigned)queue_max : CLIENTS_MAX);
    if (!is_full) {
        queue[last % CLIENTS_MAX].client = client;
        queue[last++ % CLIENTS_MAX].since_ms = now_ms();
        pthread_cond_signal(&some);
    }
    pthread_mutex_unlock(&mutex);
    if (is_full) answer(client, BUSY);
}

static void give_up(void) {
    pthread_mutex_lock(&mutex);
    while (first != last && now_ms() - queue[first % CLIENTS_MAX].since_ms >= give_up_ms) {
        answer(queue[first++ % CLIENTS_MAX].client, BUSY);
    }
    pthread_mutex_unlock(&mutex);
}

int main(int count, char **arguments) {
    if (count < 4) {
        fprintf(stderr, "usage: pool PORT WORKERS MS [QUEUE [GIVE-UP-MS]]\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    wait_ms = atol(arguments[3]);
    queue_max = count > 4 ? atol(arguments[4]) : 0;
    give_up_ms = count > 5 ? atol(arguments[5]) : 0;
    for (long workers = atol(arguments[2]); workers > 0; workers--) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, worker, NULL)) return 1;
    }
    int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(arguments[1]))};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 1024)) {
        perror("listen");
        return 1;
    }
    int poll = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listener}, events[64];
    epoll_ctl(poll, EPOLL_CTL_ADD, listener, &event);
    for (;;) {
        int ready = epoll_wait(poll, events, 64, give_up_ms ? 2 : -1);
        for (int i = 0; i < ready; i++) {
            int client = events[i].data.fd;
            char request[8192];
            if (client == listener) {
                event.data.fd = accept(listener, NULL, NULL);
                setsockopt(event.data.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
                if (event.data.fd >= 0) epoll_ctl(poll, EPOLL_CTL_ADD, event.data.fd, &event);
            } else if (read(client, request, sizeof request) <= 0) {
                close(client);
            } else {
                // A small GET comes in one piece.
                enqueue(client);
            }
        }
        if (give_up_ms) give_up();
    }
}
