#!/usr/bin/env node
// The same program; by this name it always asks a server.
require('./forge.cjs');
