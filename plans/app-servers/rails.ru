# frozen_string_literal: true

# Rails as a single file, without a database and without Bundler: the same work and the same answer as config.ru, behind the router,
# the middleware, and the controller of Rails.

require 'action_controller/railtie'

class App < Rails::Application
  config.load_defaults 6.1
  config.eager_load = true
  config.cache_classes = true
  config.consider_all_requests_local = false
  config.secret_key_base = ENV.fetch('SECRET_KEY_BASE')
  config.hosts.clear
  # No line for each request, as the other servers write none.
  config.logger = ActiveSupport::Logger.new($stderr)
  config.log_level = :warn
  routes.append { get '/fibonacci', to: 'fibonacci#show' }
end

class FibonacciController < ActionController::API
  def show
    index = params[:n].to_i
    return render plain: "n must be from 0 to 20000\n", status: :bad_request unless (0..20_000).cover?(index)

    render plain: "#{fibonacci(index)}\n"
  end

  private

  def fibonacci(index)
    memo = [0, 1]
    2.upto(index) { |i| memo << memo[i - 1] + memo[i - 2] }
    memo[index]
  end
end

App.initialize!
run App
