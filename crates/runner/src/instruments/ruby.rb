# Loaded into a Ruby program in an instrumented run: a thread looks at all others 100 times a second, and writes once a second which
# methods ran, and the time of garbage collections.
module TenbinInstruments
  OFTEN = 0.01
  MOST = 12

  def self.cpu
    Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
  end

  def self.collected
    GC.stat.fetch(:time, 0) / 1000.0
  end

  def self.named(thread)
    frame = thread.backtrace_locations(0, 1)&.first
    frame && "#{frame.label} #{File.basename(frame.path)}:#{frame.lineno}"
  end

  def self.run(folder)
    used, before, spent, due = cpu, collected, Hash.new(0.0), Time.now + 1
    loop do
      sleep OFTEN
      ran, used = cpu - used, cpu
      names = Thread.list.reject { |thread| thread == Thread.current || thread.status != 'run' }.filter_map { |thread| named(thread) }
      names.each { |name| spent[name] += ran / names.size }
      next if Time.now < due

      due = Time.now + 1
      ranked = spent.sort_by { |_, seconds| -seconds }
      lines = ranked.first(MOST).map { |name, seconds| "runtime_function_s\t#{name}\t#{seconds}" }
      lines << "runtime_function_s\t(others)\t#{ranked.drop(MOST).sum { |_, seconds| seconds }}"
      now = collected
      lines << "runtime_gc_s\t\t#{now - before}"
      before = now
      spent.clear
      File.open(File.join(folder, "#{Process.pid}.lines"), 'a') { |file| file.puts(lines) }
    end
  rescue SystemCallError
    nil # The folder is gone with the run.
  end

  def self.start(folder)
    Thread.new { run(folder) }.tap { |thread| thread.report_on_exception = false }
  end
end

if (folder = ENV['TENBIN_INSTRUMENTS'])
  TenbinInstruments.start(folder)
  Process.singleton_class.prepend(Module.new do
    define_method(:_fork) do
      pid = super()
      TenbinInstruments.start(folder) if pid.zero?
      pid
    end
  end)
end
