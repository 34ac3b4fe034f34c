# frozen_string_literal: true

# A page and a report, which wait for something else (a database, another site) and then answer.
# PAGE_MS and REPORT_MS in the environment say for how long.

WAITS_S = { '/page' => 'PAGE_MS', '/report' => 'REPORT_MS' }.transform_values do |name|
  Integer(ENV.fetch(name, '50')) / 1000.0
end.freeze

# A stop signal ends a sleep early; the wait goes on.
def wait(seconds)
  deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + seconds
  while (left = deadline - Process.clock_gettime(Process::CLOCK_MONOTONIC)).positive?
    sleep(left)
  end
end

run(lambda do |env|
  body = +'nothing here'
  seconds = WAITS_S[env['PATH_INFO']]
  if seconds
    wait(seconds)
    body = +"done\n"
  end
  [seconds ? 200 : 404, { 'content-type' => 'text/plain', 'content-length' => body.bytesize.to_s }, [body]]
end)
