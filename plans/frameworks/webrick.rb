# frozen_string_literal: true

require 'rack'
require 'rack/handler/webrick'

application, = Rack::Builder.parse_file(File.join(__dir__, 'config.ru'))
log = WEBrick::Log.new($stderr, WEBrick::Log::WARN)
trap('TERM') { Rack::Handler::WEBrick.shutdown }
Rack::Handler::WEBrick.run(application, Host: '127.0.0.1', Port: ENV.fetch('PORT').to_i, AccessLog: [], Logger: log)
