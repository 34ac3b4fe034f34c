'use strict';

const fastify = require('fastify')({ logger: false });
const { page } = require('./page');

fastify.get('/items', async (request, reply) => reply.type('text/html; charset=utf-8').send(page(request.query.name)));
fastify.listen({ port: Number(process.env.PORT), host: '127.0.0.1' });
process.on('SIGTERM', () => process.exit(0));
