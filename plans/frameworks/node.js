'use strict';

const http = require('node:http');
const { page } = require('./page');

const server = http.createServer((request, response) => {
  const { searchParams } = new URL(request.url, 'http://localhost');
  response.setHeader('Content-Type', 'text/html; charset=utf-8');
  response.end(page(searchParams.get('name')));
});
server.listen({ port: Number(process.env.PORT), host: '127.0.0.1', backlog: 511 });
process.on('SIGTERM', () => process.exit(0));
