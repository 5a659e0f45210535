import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export const SECRET = 'a secret of the user\n';

/** A checkout with links that an agent may have put there, and files of the user's around it. */
export interface PathWorld {
  readonly checkout: string;
  /** Names for files outside of the checkout, or in git's own folder; the kernel reads the secret by each of them. */
  readonly paths: readonly string[];
  /** Every file that must stay as it is. */
  readonly secrets: readonly string[];
}

/** Folders beside the checkout; the names of two begin or end like its own. */
const BESIDE = [
  'outside',
  'checkout-more',
  'checkout.git',
  'with space',
  'übung',
  'out\u0301side',
  '-rf',
  'a;b',
  '$(x)',
];
/** Below each of those. */
const FILES = ['secret', 'deep/er/secret', '.hidden'];

/** Makes it in an empty folder. */
export function makePathWorld(parent: string): PathWorld {
  const checkout = join(parent, 'checkout');
  const beside = BESIDE.flatMap((name) => FILES.map((file) => `${name}/${file}`));
  const own = [
    '.git/config',
    '.git/hooks/pre-commit',
    '.git/info/attributes',
    'part/.git/config',
    'part/.git/HEAD',
  ];
  const secrets = [...beside.map((name) => join(parent, name)), ...own.map((name) => join(checkout, name))];
  for (const path of secrets) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, SECRET);
  }
  mkdirSync(join(checkout, 'a/b/c'), { recursive: true });
  writeFileSync(join(checkout, 'a/file'), 'own\n');
  return {
    checkout,
    paths: [
      ...new Set([...listClimbs(parent, beside), ...listOwn(own, checkout), ...plantLinks(parent, checkout)]),
    ],
    secrets,
  };
}

/** By `..`, by an absolute path, and by what the kernel keeps under /proc. */
function listClimbs(parent: string, beside: readonly string[]): string[] {
  const ups = [
    '..',
    './..',
    'a/../..',
    'a/b/../../..',
    './/..',
    'a/./../..',
    '../checkout/..',
    'a/b/c/../../../..',
  ];
  const proc = existsSync('/proc/self/root')
    ? [`/proc/self/root${parent}`, `/proc/thread-self/root${parent}`]
    : [];
  const absolute = [parent, `/${parent}`, `${parent}/.`, `${parent}/checkout/..`, ...proc];
  return [...ups, ...absolute].flatMap((up) => beside.map((name) => `${up}/${name}`));
}

/** Git's own folders in the checkout, by other ways of writing them. */
function listOwn(own: readonly string[], checkout: string): string[] {
  return own.flatMap((path) => [
    path,
    `./${path}`,
    `a/../${path}`,
    `.//${path}`,
    path.replace('.git/', '.git//'),
    path.replace('.git/', '.git/./'),
    path.replace('.git/', '.git/hooks/../').replace('part/.git/hooks/../', 'part/.git/'),
    `${checkout}/${path}`,
    `../checkout/${path}`,
  ]);
}

/** Links to files, to folders on the way, by other links, absolute and relative, and to git's own folder. */
function plantLinks(parent: string, checkout: string): string[] {
  const links: [name: string, target: string, behind: string][] = [
    ['file-link', join(parent, 'outside/secret'), ''],
    ['file-link-relative', '../outside/secret', ''],
    ['a/b/file-link', '../../../outside/secret', ''],
    ['folder-link', join(parent, 'outside'), '/secret'],
    ['folder-link-relative', '../outside', '/deep/er/secret'],
    ['a/up', '../..', '/outside/secret'],
    ['a/b/up', '../../..', '/checkout-more/secret'],
    ['root-link', '/', join(parent, 'outside/secret')],
    ['own-link', '.git', '/config'],
    ['a/own-link', '../.git/hooks', '/pre-commit'],
    ['own-file', '.git/config', ''],
  ];
  const paths: string[] = [];
  for (const [name, target, behind] of links) {
    symlinkSync(target, join(checkout, name));
    paths.push(
      `${name}${behind}`,
      `./${name}${behind}`,
      `a/../${name}${behind}`,
      `${checkout}/${name}${behind}`,
    );
    // A chain of links that ends there.
    let before = name;
    for (const step of [1, 2, 3]) {
      const next = `chain-${name.replaceAll('/', '-')}-${step}`;
      symlinkSync(before, join(checkout, next));
      paths.push(`${next}${behind}`);
      before = next;
    }
  }
  return paths;
}
