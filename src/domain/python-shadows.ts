import type { ScriptFinder } from './shell-scripts.ts';

/** Modules that come with Python: each is imported by scripts, or by another of them. */
const STANDARD = new Set(
  (
    '__future__ abc aifc antigravity argparse array ast asynchat asyncio asyncore atexit audioop base64 bdb binascii bisect ' +
    'builtins bz2 cProfile calendar cgi cgitb chunk cmath cmd code codecs codeop collections colorsys compileall compression ' +
    'concurrent configparser contextlib contextvars copy copyreg crypt csv ctypes curses dataclasses datetime dbm decimal ' +
    'difflib dis distutils doctest email encodings ensurepip enum errno faulthandler fcntl filecmp fileinput fnmatch ' +
    'fractions ftplib functools gc genericpath getopt getpass gettext glob graphlib grp gzip hashlib heapq hmac html http ' +
    'idlelib imaplib imghdr imp importlib inspect io ipaddress itertools json keyword lib2to3 linecache locale logging lzma ' +
    'mailbox mailcap marshal math mimetypes mmap modulefinder multiprocessing netrc nis nntplib ntpath nturl2path numbers ' +
    'opcode operator optparse os pathlib pdb pickle pickletools pipes pkgutil platform plistlib poplib posix posixpath pprint ' +
    'profile pstats pty pwd py_compile pyclbr pydoc pydoc_data pyexpat queue quopri random re readline reprlib resource ' +
    'rlcompleter runpy sched secrets select selectors shelve shlex shutil signal site sitecustomize smtpd smtplib sndhdr ' +
    'socket socketserver spwd sqlite3 sre_compile sre_constants sre_parse ssl stat statistics string stringprep struct ' +
    'subprocess sunau symtable sys sysconfig syslog tabnanny tarfile telnetlib tempfile termios textwrap this threading time ' +
    'timeit tkinter token tokenize tomllib trace traceback tracemalloc tty turtle types typing unicodedata unittest urllib ' +
    'usercustomize uu uuid venv warnings wave weakref webbrowser wsgiref xdrlib xml xmlrpc zipapp zipfile zipimport zlib zoneinfo'
  ).split(' '),
);
const IMPORTS = /^[ \t;]*(?:from|import)[ \t]+([\w., \t]+)/gm;

export function isPython(program: string): boolean {
  return /^(?:python|pypy)[\d.]*$/.test(program);
}

/**
 * Python looks beside a script, or in the folder of a line without one, before it looks among its own modules: a new file
 * there may stand for one that the script imports. That it is there counts, and not what is in it: modules of the project
 * are the work's own.
 */
export function addShadows(finder: ScriptFinder, script?: string): void {
  const places =
    script === undefined
      ? finder.folders().map((folder) => ({ folder, imported: new Set<string>() }))
      : finder.resolve(script).map((path) => ({
          folder: path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '',
          imported: readImports(finder.view.readText(path) ?? ''),
        }));
  for (const { folder, imported } of places)
    for (const name of finder.view.listNames(folder)) {
      const [module = '', ending] = name.split(/[.](.*)/s);
      const path = folder === '' ? name : `${folder}/${name}`;
      if (!STANDARD.has(module) && !imported.has(module)) continue;
      const isModule =
        ending === undefined ? isPackage(finder, path) : /^(?:.*[.])?(?:py|pyc|so|pyd)$/.test(ending);
      if (isModule && path !== script) finder.add({ path, part: 'is there' });
    }
}

/** The same for a file that is run by its name. */
export function addShadowsOfProgram(finder: ScriptFinder, program: string): void {
  for (const path of finder.resolve(program))
    if (/^#!.*(?:python|pypy)/.test(finder.view.readText(path) ?? '')) addShadows(finder, program);
}

function isPackage(finder: ScriptFinder, path: string): boolean {
  return finder.view.listNames(path).some((name) => /^__init__[.]/.test(name));
}

function readImports(text: string): Set<string> {
  const names = [...text.matchAll(IMPORTS)].flatMap(([line, list = '']) =>
    /^[\s;]*from/.test(line) ? [list.split(/\s/)[0] ?? ''] : list.split(','),
  );
  return new Set(names.map((name) => name.trim().split(/[.\s]/)[0] ?? '').filter((name) => name !== ''));
}
