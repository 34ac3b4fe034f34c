'use strict';

// The page that every system of the plan makes: a list of twenty items.
exports.page = (name) => {
  const items = Array.from({ length: 20 }, (_, number) => `<li>item ${number + 1} of ${name}</li>`);
  return `<!doctype html>\n<title>Items</title>\n<ul>\n${items.join('\n')}\n</ul>\n`;
};
