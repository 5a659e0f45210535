import { mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isForgeError } from '#kernel/errors.ts';
import { line, newTask } from '#store/store-behaviour.ts';
