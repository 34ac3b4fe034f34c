# frozen_string_literal: true

# GET /fibonacci?n=1000: the thousandth Fibonacci number, by iteration over big integers.
# Every number on the way is remembered until the request is answered: a request costs processor and memory, and no database.

TEXT = { 'content-type' => 'text/plain' }.freeze

def fibonacci(index)
  memo = [0, 1]
  2.upto(index) { |i| memo << memo[i - 1] + memo[i - 2] }
  memo[index]
end

run(lambda do |env|
  next [404, TEXT, ["GET /fibonacci?n=1000\n"]] unless env['PATH_INFO'] == '/fibonacci'

  index = Rack::Utils.parse_query(env['QUERY_STRING'])['n'].to_i
  next [400, TEXT, ["n must be from 0 to 20000\n"]] unless (0..20_000).cover?(index)

  body = "#{fibonacci(index)}\n"
  [200, TEXT.merge('content-length' => body.bytesize.to_s), [body]]
end)
