# A form that signs people up: POST /sign-up inserts a row, whose e-mail must be unique. Each process ("node") has a pool of connections to each
# database; the database of an e-mail is its crc32 modulo their number. A request that gets no connection within 2 s is answered 503.
require "pg"
require "uri"
require "zlib"

PORTS = ENV.fetch("DATABASE_PORTS").split(",").first(Integer(ENV.fetch("SHARDS")))
POOL = Integer(ENV.fetch("POOL"))
# The database computes a hash of the password that is slow on purpose, or keeps none.
INSERT = {
  "plain" => "INSERT INTO users (email, password) VALUES ($1, $2)",
  "hashed" => "INSERT INTO users (email, password) VALUES ($1, crypt($2, gen_salt('bf', 7)))"
}.fetch(ENV.fetch("PASSWORDS"))

# Connections to one database, which are opened when they are needed first.
class Pool
  WAIT_S = 2

  def initialize(port)
    @port = port
    @free = []
    @opened = 0
    @lock = Mutex.new
    @returned = ConditionVariable.new
  end

  def with
    connection = take or return [503, {}, ["no connection of the pool was free within #{WAIT_S} s\n"]]
    begin
      yield connection
    ensure
      @lock.synchronize do
        @free.push(connection)
        @returned.signal
      end
    end
  end

  private

  def take
    ends_at = now + WAIT_S
    @lock.synchronize do
      while @free.empty?
        if @opened < POOL
          @opened += 1
          break
        end
        left = ends_at - now
        return nil if left <= 0
        @returned.wait(@lock, left)
      end
      return @free.pop unless @free.empty?
    end
    open
  end

  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

  def open
    PG.connect(host: "127.0.0.1", port: @port, user: "bench", dbname: "postgres", sslmode: "disable")
  rescue PG::Error
    @lock.synchronize do
      @opened -= 1
      @returned.signal
    end
    raise
  end
end

POOLS = PORTS.map { |port| Pool.new(port) }

run(lambda do |env|
  next [200, {}, ["ok\n"]] unless env["REQUEST_METHOD"] == "POST"

  form = URI.decode_www_form(env["rack.input"].read).to_h
  email = form.fetch("email")
  POOLS[Zlib.crc32(email) % POOLS.size].with do |connection|
    connection.exec_params(INSERT, [email, form.fetch("password")])
    [201, {}, ["welcome\n"]]
  end
rescue PG::UniqueViolation
  [409, {}, ["this e-mail is known\n"]]
rescue PG::Error => error
  [500, {}, ["#{error.message.lines.first}\n"]]
end)
