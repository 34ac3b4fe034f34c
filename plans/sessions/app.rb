# frozen_string_literal: true

# A small shop with sessions, as web frameworks make them: an encrypted cookie, a token against forged requests in every form, a
# redirect after the log-in, and a JSON API for who is logged in. Users and orders are in memory.
require "json"
require "securerandom"
require "sinatra/base"

class Shop < Sinatra::Base
  set :environment, :production
  set :sessions, key: "shop.session", same_site: :lax, httponly: true
  set :session_secret, SecureRandom.hex(64)
  # Requests that change anything need the token: from the form, or from a page in the header X-CSRF-Token.
  set :protection, use: [:authenticity_token]
  set :lock, Mutex.new
  set :users, {}
  set :orders, Hash.new { |orders, user| orders[user] = [] }

  helpers do
    def token = Rack::Protection::AuthenticityToken.token(session)

    def page(text)
      "<!doctype html><title>Shop</title><meta name=\"csrf-token\" content=\"#{token}\">#{text}"
    end

    def user = session[:user] || halt(401, "log in first\n")

    def admin!
      given = request.env["HTTP_AUTHORIZATION"].to_s
      halt 403, "not the administrator\n" unless Rack::Utils.secure_compare(given, "Bearer #{ENV.fetch("SHOP_PASSWORD")}")
    end

    def json(value)
      content_type :json
      JSON.generate(value)
    end
  end

  # For the administrator's scripts, which have no session.
  class Admin < Shop
    disable :protection

    post "/users" do
      admin!
      name, password = params.values_at(:name, :password)
      halt 422, "a user needs a name and a password\n" if [name, password].any? { |text| text.to_s.empty? }
      settings.lock.synchronize { Shop.users[name] = password }
      status 201
      json users: [{ name: name, id: name.hash.abs }]
    end

    delete "/users/:name" do
      admin!
      halt 404, "no such user\n" unless settings.lock.synchronize { Shop.users.delete(params[:name]) }
      204
    end
  end

  get("/login") do
    page %(<form method="post"><input name="user"><input name="password" type="password">) +
         %(<input type="hidden" name="authenticity_token" value="#{token}"></form>)
  end

  post "/login" do
    known = settings.lock.synchronize { Shop.users[params[:user]] }
    halt 401, page("Unknown user or wrong password.") unless known && Rack::Utils.secure_compare(known, params[:password].to_s)
    session[:user] = params[:user]
    redirect to("/account"), 303
  end

  get("/account") { page "Welcome, #{Rack::Utils.escape_html(user)}." }

  post "/logout" do
    user
    session.clear
    redirect to("/login"), 303
  end

  get "/api/orders" do
    json orders: settings.lock.synchronize { Shop.orders[user].last(20) }
  end

  post "/api/orders" do
    item = JSON.parse(request.body.read).fetch("item")
    order = { id: SecureRandom.uuid, item: item }
    settings.lock.synchronize { Shop.orders[user] = (Shop.orders[user] << order).last(1000) }
    status 201
    json order: order
  rescue JSON::ParserError, KeyError
    halt 422, "an order needs an item\n"
  end

  get "/api/orders/:id" do
    order = settings.lock.synchronize { Shop.orders[user].find { |one| one[:id] == params[:id] } }
    halt 404, "no such order\n" unless order
    json order: order
  end
end
