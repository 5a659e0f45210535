import { API, type OperationRoute } from './operation-routes.ts';
import type { OwnRoute } from './own-route.ts';

/** The API as one page of plain HTML: no script, nothing from elsewhere. */
export function renderDocsPage({
  operations,
  own,
  version,
}: {
  readonly operations: readonly OperationRoute[];
  readonly own: readonly OwnRoute[];
  readonly version: string;
}): string {
  const areas = Map.groupBy(
    // The second address of each is said once, above.
    operations.filter(({ path, declaration: { http } }) => path === `${API}${http?.path ?? ''}`),
    ({ declaration }) => declaration.name.split('.')[0] ?? '',
  );
  const shown = own.filter(({ hidden }) => hidden !== true);
  const links = [...areas.keys(), 'server'].map((area) => `<a href="#${escape(area)}">${escape(area)}</a>`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Forge API</title>
<link rel="stylesheet" href="/api/docs.css">
</head>
<body>
<header>
<h1>Forge API <small>${escape(version)}</small></h1>
<p>Send a token as <code>Authorization: Bearer …</code> (<code>forge token create --scope task</code>), and what changes something as <code>application/json</code>. What needs a project takes <code>?project=</code>, or stands under <code>${API}/projects/{project}</code> as well. For programs: <a href="${API}/openapi.json">openapi.json</a>.</p>
<nav>${links.join('\n')}</nav>
</header>
<main>
${[...areas].map(([area, routes]) => renderArea(area, routes.map(renderOperation))).join('\n')}
${renderArea('server', shown.map(renderOwn))}
</main>
</body>
</html>
`;
}

function renderArea(area: string, articles: readonly string[]): string {
  return `<section id="${escape(area)}">\n<h2>${escape(area)}</h2>\n${articles.join('\n')}\n</section>`;
}

function renderOperation(route: OperationRoute): string {
  const { declaration, places, aliases } = route;
  const { shape } = declaration.input;
  const rows = Object.entries(shape).map(([name, schema]) => {
    const other = [...aliases].filter(([, field]) => field === name).map(([alias]) => alias);
    const from = places.includes(name)
      ? 'path'
      : route.method === 'GET' || route.method === 'DELETE'
        ? 'query'
        : 'body';
    const isNeeded = !schema.safeParse(undefined).success;
    return `<tr><td><code>${escape([name, ...other].join(', '))}</code></td><td>${from}</td><td>${isNeeded ? 'required' : ''}</td><td>${escape(schema.description ?? '')}</td></tr>`;
  });
  const table =
    rows.length === 0
      ? ''
      : `<table><thead><tr><th>field</th><th>in</th><th></th><th></th></tr></thead><tbody>${rows.join('')}</tbody></table>`;
  return `<article>
<h3><b class="${route.method.toLowerCase()}">${route.method}</b> <code>${escape(route.path)}</code></h3>
<p>${escape(declaration.summary)}. <small>Scope ${declaration.access}; <code>${escape(declaration.name)}</code>${route.paged ? '; page by page, see <code>Forge-Next-Cursor</code>' : ''}</small></p>
${declaration.about === undefined ? '' : `<p>${escape(declaration.about)}</p>`}
${table}
</article>`;
}

function renderOwn({ method, path, summary, open }: OwnRoute): string {
  return `<article>
<h3><b class="${method.toLowerCase()}">${method}</b> <code>${escape(path)}</code></h3>
<p>${escape(summary)}.${open === true ? ' <small>Needs no token</small>' : ''}</p>
</article>`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (found) => ENTITIES[found] ?? found);
}

export const DOCS_STYLE = `:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 18%, transparent); --soft: color-mix(in srgb, currentColor 65%, transparent); }
body { margin: 0 auto; max-width: 60rem; padding: 2rem 1.25rem 6rem; font: 16px/1.55 system-ui, sans-serif; }
h1 small, p small { font-weight: 400; color: var(--soft); }
h2 { margin: 3rem 0 1rem; text-transform: capitalize; }
h3 { margin: 0; font-size: 1rem; font-weight: 500; overflow-wrap: anywhere; }
nav { display: flex; flex-wrap: wrap; gap: 0.4rem 1rem; }
article { border-top: 1px solid var(--line); padding: 1rem 0; }
code { font: 0.92em/1.4 ui-monospace, monospace; }
b { display: inline-block; min-width: 4.2rem; font: 600 0.8rem/1.4 ui-monospace, monospace; }
b.get { color: light-dark(#0a6640, #6fd6a4); }
b.post { color: light-dark(#1d4ed8, #93b4ff); }
b.put, b.patch { color: light-dark(#92500a, #f0b867); }
b.delete { color: light-dark(#b42318, #ff9a8f); }
table { border-collapse: collapse; width: 100%; font-size: 0.9rem; }
th, td { border-top: 1px solid var(--line); padding: 0.3rem 0.6rem 0.3rem 0; text-align: left; vertical-align: top; }
th { border-top: 0; color: var(--soft); font-weight: 400; }
`;
