// A web server on net/http. Each request runs the steps of the command line in order.
//
// Usage: server PORT STEP… [-- BACKGROUND-STEP…]…
// A step is NAME[=NUMBER][:STEP]; some steps run another one:
//
//	sleep=US, cpu=US (about), garbage=KIB, quadratic=LENGTH (of a text that is built bit by bit), log=BYTES, limit=RATE
//	call=PORT (over at most CONNECTIONS connections), fresh=PORT (a connection for each call), sync (the file SYNC_FILE)
//	mutex:, read:, write: (an RWMutex), slots=N: (a buffered channel), workers=N: (goroutines)
//
// Each group of steps after -- runs again and again in a goroutine of its own. KEEP is MiB of small objects that stay alive.
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

type step func()

var (
	rwmutex sync.RWMutex
	kept    []*[4]*int
	sink    any
	sinks   atomic.Uint64
)

func environment(name string, otherwise int) int {
	if number, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return number
	}
	return otherwise
}

func compute(number int) {
	// A fixed amount of work: time would pass without work, too, where the cores are short.
	sum := uint64(1)
	for i := 0; i < number*500; i++ {
		sum = sum*6364136223846793005 + 1442695040888963407
	}
	sinks.Store(sum)
}

func caller(port int, transport *http.Transport) step {
	client := http.Client{Transport: transport}
	return func() {
		reply, err := client.Get(fmt.Sprintf("http://127.0.0.1:%d/", port))
		if err != nil {
			panic(err)
		}
		io.Copy(io.Discard, reply.Body)
		reply.Body.Close()
	}
}

func limiter(rate int) step {
	ticks := time.NewTicker(time.Second / time.Duration(rate))
	return func() { <-ticks.C }
}

func workers(count int, inner step) step {
	jobs := make(chan chan struct{})
	for i := 0; i < count; i++ {
		go func() {
			for done := range jobs {
				inner()
				close(done)
			}
		}()
	}
	return func() {
		done := make(chan struct{})
		jobs <- done
		<-done
	}
}

func syncer() step {
	file, err := os.Create(os.Getenv("SYNC_FILE"))
	if err != nil {
		panic(err)
	}
	return func() {
		file.WriteString("x")
		file.Sync()
	}
}

func garbage(kib int) {
	for i := 0; i < kib*16; i++ {
		sink = new([8]int)
	}
}

func quadratic(length int) {
	text := ""
	for i := 0; i < length; i++ {
		text += "{\"n\":1},"
	}
	sink = text
}

func parsed(word string) step {
	head, rest, _ := strings.Cut(word, ":")
	name, text, _ := strings.Cut(head, "=")
	number, _ := strconv.Atoi(text)
	inner := func() {}
	if rest != "" {
		inner = parsed(rest)
	}
	under := func(lock, unlock func()) step {
		return func() {
			lock()
			defer unlock()
			inner()
		}
	}
	switch name {
	case "sleep":
		return func() { time.Sleep(time.Duration(number) * time.Microsecond) }
	case "cpu":
		return func() { compute(number) }
	case "garbage":
		return func() { garbage(number) }
	case "quadratic":
		return func() { quadratic(number) }
	case "log":
		return func() { fmt.Println(strings.Repeat("x", number)) }
	case "limit":
		return limiter(number)
	case "call":
		return caller(number, &http.Transport{MaxConnsPerHost: environment("CONNECTIONS", 0), MaxIdleConnsPerHost: 1000})
	case "fresh":
		return caller(number, &http.Transport{DisableKeepAlives: true})
	case "sync":
		return syncer()
	case "mutex":
		var mutex sync.Mutex
		return under(mutex.Lock, mutex.Unlock)
	case "read":
		return under(rwmutex.RLock, rwmutex.RUnlock)
	case "write":
		return under(rwmutex.Lock, rwmutex.Unlock)
	case "slots":
		slots := make(chan struct{}, number)
		return under(func() { slots <- struct{}{} }, func() { <-slots })
	case "workers":
		return workers(number, inner)
	}
	panic("no step " + name)
}

func main() {
	groups := [][]step{{}}
	for _, word := range os.Args[2:] {
		if word == "--" {
			groups = append(groups, nil)
			continue
		}
		last := len(groups) - 1
		groups[last] = append(groups[last], parsed(word))
	}
	for i := 0; i < environment("KEEP", 0)<<20/64; i++ {
		kept = append(kept, &[4]*int{new(int)})
	}
	for _, group := range groups[1:] {
		go func(group []step) {
			for {
				for _, step := range group {
					step()
				}
			}
		}(group)
	}
	handle := func(writer http.ResponseWriter, _ *http.Request) {
		for _, step := range groups[0] {
			step()
		}
		io.WriteString(writer, "ok\n")
	}
	panic(http.ListenAndServe("127.0.0.1:"+os.Args[1], http.HandlerFunc(handle)))
}
