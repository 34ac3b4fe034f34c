# frozen_string_literal: true

require_relative "app"
require "rack/deflater"

use Rack::Deflater
map("/admin") { run Shop::Admin }
map("/") { run Shop }
