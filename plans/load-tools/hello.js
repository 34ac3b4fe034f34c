// One request for each iteration, on connections that stay.
import http from 'k6/http';

export default function () {
  http.get(`${__ENV.URL}/hello`);
}
