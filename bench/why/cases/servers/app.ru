# A Rack application. APP_MS computes for so many milliseconds; APP_UPSTREAM asks another server at this port.
require "socket"

compute_ms = ENV.fetch("APP_MS", "0").to_f
upstream = ENV["APP_UPSTREAM"]

run(lambda do |_env|
  until_s = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) + compute_ms / 1000
  nil while Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) < until_s
  if upstream
    socket = (Thread.current[:upstream] ||= TCPSocket.new("127.0.0.1", Integer(upstream)))
    socket.write("GET / HTTP/1.1\r\nHost: upstream\r\n\r\n")
    socket.readpartial(4096)
  end
  [200, { "content-type" => "text/plain" }, ["ok\n"]]
end)
