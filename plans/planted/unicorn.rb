# As many workers as the plan says, in the environment.
worker_processes Integer(ENV.fetch("WORKERS", "20"))
timeout 60
preload_app true
