# frozen_string_literal: true

# The shop of app.rb, made with Ruby on Rails in one file: its sessions, its tokens against forged requests, its forms. Without a database.
require "action_controller/railtie"
require "rack/deflater"
require "securerandom"

class Shop < Rails::Application
  config.load_defaults Rails::VERSION::STRING.to_f
  config.eager_load = true
  config.cache_classes = true
  config.logger = Logger.new(File::NULL)
  config.secret_key_base = SecureRandom.hex(64)
  # ApplicationController says it: what is set as Rails starts would overrule the controllers of this file.
  config.action_controller.default_protect_from_forgery = false
  config.session_store :cookie_store, key: "shop.session"
  config.middleware.insert 0, Rack::Deflater

  LOCK = Mutex.new
  USERS = {}
  ORDERS = Hash.new { |orders, user| orders[user] = [] }

  routes.append do
    get "login", to: "visits#form"
    post "login", to: "visits#enter"
    post "logout", to: "visits#leave"
    get "account", to: "visits#account"
    post "admin/users", to: "users#create"
    delete "admin/users/:name", to: "users#destroy"
    scope :api do
      resources :orders, only: %i[index create show]
    end
  end
end

class ApplicationController < ActionController::Base
  protect_from_forgery with: :exception

  private

  def user = session[:user]
  def must_log_in = user || render(plain: "log in first\n", status: 401)

  def page(text, status: 200)
    render html: helpers.safe_join(["<!doctype html><title>Shop</title>".html_safe, helpers.csrf_meta_tags, text]), status: status
  end
end

class VisitsController < ApplicationController
  before_action :must_log_in, only: %i[account leave]

  def form
    page helpers.form_tag("/login") { helpers.text_field_tag(:user) + helpers.password_field_tag(:password) }
  end

  def enter
    known = Shop::LOCK.synchronize { Shop::USERS[params[:user]] }
    return page("Unknown user or wrong password.", status: 401) unless
      known && ActiveSupport::SecurityUtils.secure_compare(known, params[:password].to_s)
    reset_session
    session[:user] = params[:user]
    redirect_to "/account", status: 303
  end

  def leave
    reset_session
    redirect_to "/login", status: 303
  end

  def account = page("Welcome, #{user}.")
end

# For the administrator's scripts, which have no session.
class UsersController < ApplicationController
  skip_forgery_protection
  before_action :must_be_the_administrator

  def create
    name, password = params.values_at(:name, :password)
    return render(plain: "a user needs a name and a password\n", status: 422) if name.blank? || password.blank?
    Shop::LOCK.synchronize { Shop::USERS[name] = password }
    render json: { users: [{ name: name, id: name.hash.abs }] }, status: 201
  end

  def destroy
    known = Shop::LOCK.synchronize { Shop::USERS.delete(params[:name]) }
    known ? head(204) : render(plain: "no such user\n", status: 404)
  end

  private

  def must_be_the_administrator
    given = request.headers["Authorization"].to_s
    return if ActiveSupport::SecurityUtils.secure_compare(given, "Bearer #{ENV.fetch("SHOP_PASSWORD")}")
    render plain: "not the administrator\n", status: 403
  end
end

class OrdersController < ApplicationController
  before_action :must_log_in

  def index
    render json: { orders: Shop::LOCK.synchronize { Shop::ORDERS[user].last(20) } }
  end

  def create
    return render(plain: "an order needs an item\n", status: 422) unless params[:item]
    order = { id: SecureRandom.uuid, item: params[:item] }
    Shop::LOCK.synchronize { Shop::ORDERS[user] = (Shop::ORDERS[user] << order).last(1000) }
    render json: { order: order }, status: 201
  end

  def show
    order = Shop::LOCK.synchronize { Shop::ORDERS[user].find { |one| one[:id] == params[:id] } }
    order ? render(json: { order: order }) : render(plain: "no such order\n", status: 404)
  end
end

Shop.initialize!
run Shop
