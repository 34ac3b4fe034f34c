'use strict';

process.chdir(__dirname);
const { constructor: Sails } = require('sails');
const { page } = require('../page');

new Sails().lift({
  port: Number(process.env.PORT),
  explicitHost: '127.0.0.1',
  environment: 'production',
  appPath: process.env.DIR,
  log: { level: 'error' },
  hooks: { grunt: false, session: false, i18n: false, pubsub: false, sockets: false, views: false, blueprints: false },
  routes: {
    'GET /items': (request, response) => response.type('html').send(page(request.query.name)),
  },
}, (error) => {
  if (error) {
    console.error(error);
    process.exit(1);
  }
});
process.on('SIGTERM', () => process.exit(0));
