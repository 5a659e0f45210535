import { describe, expect, it } from 'vitest';
import { asks, type Files } from '../../tests/support/tree-in-memory.ts';

const TEST = '{"scripts":{"test":"jest"},"dependencies":{"a":"1"}}';
const TRUE = '{"scripts":{"test":"true"},"dependencies":{"a":"1"}}';

/** The line, the files that decide what it does, and the change of one of them by which it does something else. */
const DECIDED: readonly (readonly [string, Files, Readonly<Record<string, string | undefined>>])[] = [
  ['tox', { 'pyproject.toml': '[tool.tox]\na=1' }, { 'pyproject.toml': '[tool.tox]\na=2' }],
  ['tox', { 'pyproject.toml': '[tool.tox]\na=1' }, { 'pyproject.toml': '[x]\na=2' }],
  ['tox', { 'pyproject.toml': '[tool.tox]\na=1' }, { 'pyproject.toml': undefined }],
  ['tox', { 'tox.ini': 'x' }, { 'tox.toml': 'y' }],
  ['tox -c ci.ini', { 'ci.ini': 'x' }, { 'ci.ini': 'y' }],
  [
    'yarn test',
    { 'package.json': TEST, '.yarn/releases/yarn-4.cjs': 'x' },
    { '.yarn/releases/yarn-4.cjs': 'y' },
  ],
  ['yarn test', { 'package.json': TEST }, { '.yarn/plugins/x.cjs': 'y' }],
  ['pnpm test', { 'package.json': TEST }, { 'pnpm-workspace.yaml': 'scriptShell: /bin/true' }],
  ['pnpm test', { 'package.json': TEST }, { '.pnpmfile.mjs': 'y' }],
  ['npm test', { 'package.json': TEST }, { 'node_modules/.bin/jest': '#!/bin/true' }],
  ['pnpm jest', { 'package.json': TEST }, { 'node_modules/.bin/jest': '#!/bin/true' }],
  ['cd sub && npm test', { 'sub/package.json': TEST }, { 'node_modules/.bin/jest': '#!/bin/true' }],
  ['npx eslint .', {}, { 'node_modules/.bin/eslint': '#!/bin/true' }],
  ['npm exec -- eslint .', {}, { 'node_modules/.bin/eslint': '#!/bin/true' }],
  ['cargo test', {}, { '.cargo/config.toml': 'runner="true"' }],
  ['cargo xtask ci', { '.cargo/config.toml': 'x' }, { '.cargo/config.toml': 'y' }],
  ['mise run ci', { 'mise.toml': 'x' }, { 'mise.local.toml': 'y' }],
  ['mise run ci', { 'mise-tasks/ci': '#!x' }, { 'mise-tasks/ci': '#!y' }],
  ['mise run -f ci', { 'mise.toml': 'x' }, { 'mise.toml': 'y' }],
  ['mise exec -- ./ci.sh', { 'ci.sh': '#!x' }, { 'ci.sh': '#!y' }],
  ['pre-commit run -c ci/pc.yaml', { 'ci/pc.yaml': 'x' }, { 'ci/pc.yaml': 'y' }],
  ['./gradlew check', { gradlew: '#!x', 'build.gradle': 'x' }, { 'build.gradle': 'y' }],
  ['mvn verify', { 'pom.xml': 'x' }, { '.mvn/maven.config': '-DskipTests' }],
  ['composer test', { 'composer.json': TEST }, { 'composer.json': TRUE }],
  [
    'composer test',
    { 'composer.json': '{"scripts":{"test":["php ci.php"]}}', 'ci.php': 'x' },
    { 'ci.php': 'y' },
  ],
  [
    'hatch run test',
    { 'pyproject.toml': '[tool.hatch.x]\na=1' },
    { 'pyproject.toml': '[tool.hatch.x]\na=2' },
  ],
  ['poe test', { 'pyproject.toml': '[tool.poe.tasks]\na=1' }, { 'pyproject.toml': '[tool.poe.tasks]\na=2' }],
  ['pdm run test', { 'pyproject.toml': '[x]' }, { 'pyproject.toml': '[tool.pdm.scripts]\npytest="true"' }],
  ['pixi run test', { 'pixi.toml': '[tasks]\na="x"' }, { 'pixi.toml': '[tasks]\na="y"' }],
  ['pixi run test', { 'pixi.toml': '[x]' }, { 'pixi.toml': '[feature.a.tasks]\na="y"' }],
  ['poetry run check', { 'pyproject.toml': '[tool.poetry.scripts]\na="x"' }, { 'pyproject.toml': '[y]' }],
  ['uv run check', { 'pyproject.toml': '[project.scripts]\na="x"' }, { 'pyproject.toml': '[y]' }],
  ['pipenv run check', { Pipfile: '[scripts]\na="x"' }, { Pipfile: '[scripts]\na="y"' }],
  ['nx test app', { 'nx.json': 'x' }, { 'app/project.json': 'y' }],
  ['turbo run test', { 'package.json': TEST }, { 'package.json': TRUE }],
  ['turbo run test', { 'package.json': '{}', 'a/package.json': TEST }, { 'a/package.json': TRUE }],
  ['npx turbo test', { 'package.json': TEST }, { 'turbo.json': 'y' }],
  ['pnpm turbo test', { 'package.json': TEST }, { 'package.json': TRUE }],
  ['lerna run test', { 'package.json': TEST }, { 'package.json': TRUE }],
  ['ninja check', { 'build.ninja': 'x' }, { 'build.ninja': 'y' }],
  ['ninja -f ci.ninja', { 'ci.ninja': 'x' }, { 'ci.ninja': 'y' }],
  ['bazel test //...', {}, { '.bazelrc': 'y' }],
  ['moon ci', { '.moon/tasks.yml': 'x' }, { '.moon/tasks.yml': 'y' }],
  ['earthly +test', { Earthfile: 'x' }, { Earthfile: 'y' }],
  ['act', { '.github/workflows/ci.yml': 'x' }, { '.github/workflows/ci.yml': 'y' }],
  ['docker compose run --rm test', { 'compose.yaml': 'x' }, { 'compose.yaml': 'y' }],
  ['docker compose up', { 'compose.yaml': 'x' }, { 'compose.override.yaml': 'y' }],
  ['docker build .', { Dockerfile: 'x' }, { Dockerfile: 'y' }],
  ['nix flake check', { 'flake.nix': 'x' }, { 'flake.nix': 'y' }],
  ['mix test', { 'mix.exs': 'x' }, { 'mix.exs': 'y' }],
  ['scons', { SConstruct: 'x' }, { SConstruct: 'y' }],
  ['doit', { 'dodo.py': 'x' }, { 'dodo.py': 'y' }],
  ['gulp', { 'gulpfile.js': 'x' }, { 'gulpfile.js': 'y' }],
  ['npx lint-staged', { '.lintstagedrc': 'x' }, { '.lintstagedrc': 'y' }],
  ['cmake -P ci.cmake', { 'ci.cmake': 'x' }, { 'ci.cmake': 'y' }],
  ['ctest -S ci.cmake', { 'ci.cmake': 'x' }, { 'ci.cmake': 'y' }],
  ['cmake --workflow --preset ci', { 'CMakePresets.json': 'x' }, { 'CMakePresets.json': 'y' }],
  ['prove -r', {}, { '.proverc': '--exec true' }],
  ['jq -n -f ci.jq -e', { 'ci.jq': 'x' }, { 'ci.jq': 'y' }],
  ['jq -ef ci.jq x.json', { 'ci.jq': 'x', 'x.json': '1' }, { 'ci.jq': 'y' }],
  ['jq -e --from-file ci.jq x.json', { 'ci.jq': 'x', 'x.json': '1' }, { 'ci.jq': 'y' }],
  ['jq -e --from-file=ci.jq x.json', { 'ci.jq': 'x', 'x.json': '1' }, { 'ci.jq': 'y' }],
  ['semgrep --config rules.yml --error', { 'rules.yml': 'x' }, { 'rules.yml': 'y' }],
  ['semgrep --config rules --error', { 'rules/a.yml': 'x' }, { 'rules/a.yml': 'y' }],
  ['gitleaks detect -c g.toml', { 'g.toml': 'x' }, { 'g.toml': 'y' }],
  ['jest --config=ci/jest.js', { 'ci/jest.js': 'x' }, { 'ci/jest.js': 'y' }],
  ['alias c=./ci.sh; c', { 'ci.sh': 'x' }, { 'ci.sh': 'y' }],
  ['python3 scripts/check.py', { 'scripts/check.py': 'import json' }, { 'scripts/json.py': 'exit()' }],
  ['python3 scripts/check.py', { 'scripts/check.py': 'import json' }, { 'scripts/re/__init__.py': 'exit()' }],
  ['python3 scripts/check.py', { 'scripts/check.py': '' }, { 'scripts/codecs.abi3.so': 'exit()' }],
  ['python3 check.py', { 'check.py': 'import os, requests as r' }, { 'requests.py': 'exit()' }],
  ['python3 check.py', { 'check.py': 'from yaml.x import y' }, { 'yaml/__init__.py': 'exit()' }],
  ['python3 -m pytest', {}, { 'json.py': 'exit()' }],
  ["python3 -c 'import json'", {}, { 're.py': 'exit()' }],
  ['./check', { check: '#!/usr/bin/env python3\nimport json' }, { 'json.py': 'exit()' }],
  ['uv run scripts/check.py', { 'scripts/check.py': 'import json' }, { 'scripts/json.py': 'exit()' }],
];

describe('[S2-F6] a file that decides what a line does', () => {
  it.each(DECIDED)('%s', (line, base, change) => {
    expect(asks(line, base, {})).toBe(false);
    expect(asks(line, base, change)).toBe(true);
  });
});

/** The same for changes that are the work's own. */
const WORK: typeof DECIDED = [
  ['uv run pytest', { 'pyproject.toml': '[project]\na=1' }, { 'pyproject.toml': '[project]\na=2' }],
  ['poetry run pytest', { 'pyproject.toml': '[tool.poetry.dependencies]\na=1' }, { 'pyproject.toml': '[x]' }],
  ['composer test', { 'composer.json': TEST }, { 'composer.json': TEST.replace('"1"', '"2"') }],
  ['cargo test', { 'Cargo.toml': 'x' }, { 'Cargo.toml': 'y' }],
  ['eslint src', { 'eslint.config.js': 'x' }, { 'eslint.config.js': 'y' }],
  ['vitest run', { 'vitest.config.ts': 'x' }, { 'vitest.config.ts': 'y' }],
  ['rspec', { '.rspec': 'x' }, { '.rspec': 'y' }],
  ['cmake --build build', { 'CMakeLists.txt': 'x' }, { 'CMakeLists.txt': 'y', 'CMakePresets.json': 'y' }],
  ['cc -c a.c', { 'a.c': 'x' }, { 'a.c': 'y' }],
  ['grep -f words -c a', { words: 'x', a: 'x' }, { words: 'y', a: 'y' }],
  ['test -f a && tail -f a', { a: 'x' }, { a: 'y' }],
  ['jq . a.json && jq -r .a a.json', { 'a.json': '1' }, { 'a.json': '2' }],
  ['python3 check.py', { 'check.py': 'import own', 'own.py': 'x' }, { 'own.py': 'y', 'other.py': 'z' }],
  ['pytest tests', { 'tests/a.py': 'x' }, { 'tests/a.py': 'y', 'json.py': 'z' }],
  ['docker run --rm image pytest a.py', { 'a.py': 'x', Dockerfile: 'x' }, { 'a.py': 'y', Dockerfile: 'y' }],
  ['eslint .', {}, { 'node_modules/.bin/eslint': '#!/bin/true' }],
];

describe('[S2-F6] a file of the work', () => {
  it.each(WORK)('%s', (line, base, change) => {
    expect(asks(line, base, change)).toBe(false);
  });
});
