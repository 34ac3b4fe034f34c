# frozen_string_literal: true

# A page that waits 20 ms for something else, so that requests are under way at every moment. A stop signal ends a sleep early; the
# wait goes on.
run(lambda do |_env|
  deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 0.02
  while (left = deadline - Process.clock_gettime(Process::CLOCK_MONOTONIC)).positive?
    sleep(left)
  end
  [200, { 'content-type' => 'text/plain', 'content-length' => '5' }, ["done\n"]]
end)
