'use strict';

const express = require('express');
const { page } = require('./page');

const app = express();
app.get('/items', (request, response) => response.type('html').send(page(request.query.name)));
app.listen(Number(process.env.PORT), '127.0.0.1');
process.on('SIGTERM', () => process.exit(0));
