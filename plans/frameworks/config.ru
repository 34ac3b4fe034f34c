# frozen_string_literal: true

# The page that every system of the plan makes: a list of twenty items.
run(lambda do |env|
  name = Rack::Utils.parse_query(env['QUERY_STRING'])['name']
  items = (1..20).map { |number| "<li>item #{number} of #{name}</li>" }
  body = "<!doctype html>\n<title>Items</title>\n<ul>\n#{items.join("\n")}\n</ul>\n"
  [200, { 'content-type' => 'text/html; charset=utf-8', 'content-length' => body.bytesize.to_s }, [body]]
end)
