# Each request keeps its worker for 20 ms and hardly uses the processor: W workers answer at most W * 50 requests a second.
run ->(_env) { sleep 0.02; [200, { "content-type" => "text/plain" }, ["ok\n"]] }
