# A web server with a thread for each connection, or with THREADS a pool of them. Each request runs the steps in order.
# Usage: ruby server.rb PORT STEP... [-- BACKGROUND-STEP...]...
# A step is NAME[=NUMBER][:STEP]; some steps run another one:
#   sleep=US, cpu=US, call=PORT, log=BYTES, regex=LENGTH (backtracks), collect (GC.start), garbage=COUNT, render=COUNT, spawn
#   mutex:, slots=N: (a pool of connections)
# Each group of steps after -- runs again and again in a thread of its own. KEEP is thousands of small objects that stay alive.
require "socket"

$stdout.sync = true
KEPT = Array.new(ENV.fetch("KEEP", "0").to_i * 1000) { |n| { n: n, items: [n] } }

def compute(us)
  until_s = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) + us / 1e6
  nil while Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) < until_s
end

def call(port)
  peer = (Thread.current[:peer] ||= TCPSocket.new("127.0.0.1", port))
  peer.write("GET / HTTP/1.1\r\nHost: dependency\r\n\r\n")
  peer.readpartial(4096)
end

def step(word)
  head, rest = word.split(":", 2)
  name, text = head.split("=")
  number = text.to_i
  inner = rest && step(rest)
  mutex = Mutex.new
  slots = SizedQueue.new([number, 1].max)
  {
    "sleep" => -> { sleep(number / 1e6) },
    "cpu" => -> { compute(number) },
    "call" => -> { call(number) },
    "log" => -> { $stdout.puts("x" * number) },
    "regex" => -> { /^(a+)+$/.match?("#{"a" * number}b") },
    "collect" => -> { GC.start },
    "garbage" => -> { number.times { |n| KEPT[rand(KEPT.size)] = { n: n, items: [n] } } },
    "render" => -> { number.times.reduce("") { |page, n| page + "<li>#{n}</li>" } },
    "spawn" => -> { Process.wait(Process.spawn("true")) },
    "mutex" => -> { mutex.synchronize { inner.call } },
    "slots" => lambda {
      slots.push(1)
      begin
        inner.call
      ensure
        slots.pop
      end
    },
  }.fetch(name)
end

def serve(client, steps)
  client.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
  while client.gets("\r\n\r\n")
    steps.each(&:call)
    client.write("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n")
  end
rescue SystemCallError, IOError
  nil
ensure
  client.close
end

port, *words = ARGV
groups = words.slice_when { |before, after| after == "--" || before == "--" }.reject { |group| group == ["--"] }
groups = groups.map { |group| group.map { |word| step(word) } }
groups.drop(1).each { |group| Thread.new { loop { group.each(&:call) } } }
listener = TCPServer.new("127.0.0.1", port.to_i)
listener.listen(1024)
threads = ENV.fetch("THREADS", "0").to_i
threads.times { Thread.new { loop { serve(listener.accept, groups.first) } } }
sleep if threads.positive?
loop { Thread.new(listener.accept) { |client| serve(client, groups.first) } }
