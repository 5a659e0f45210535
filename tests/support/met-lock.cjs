// Preloaded into a program (`NODE_OPTIONS=--require`): leaves a file once SQLite has told it that another process holds
// the lock it asked for, and changes nothing else.
const { writeFileSync } = require('node:fs');
const { DatabaseSync, StatementSync } = require('node:sqlite');

const SQLITE_BUSY = 5;

for (const [type, names] of [
  [DatabaseSync, ['exec']],
  [StatementSync, ['run', 'get', 'all']],
])
  for (const name of names) watch(type.prototype, name);

function watch(prototype, name) {
  const ask = prototype[name];
  prototype[name] = function asked(...args) {
    try {
      return ask.apply(this, args);
    } catch (error) {
      // The other bits say where it was met.
      if ((error.errcode & 0xff) === SQLITE_BUSY) writeFileSync(process.env.TEST_MET_LOCK, '');
      throw error;
    }
  };
}
