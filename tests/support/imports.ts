import { parseSync, Visitor } from 'rolldown/utils';
import type { ESTree } from 'rolldown/utils';

/** How a file reaches another: a type import is gone at run time, a dynamic one is loaded only when it is reached. */
export interface Import {
  readonly specifier: string;
  readonly kind: 'static' | 'type' | 'dynamic';
  /** Whether it is `import * as name`, which lets a bundler drop what is not used. */
  readonly namespace?: boolean;
}

/** What the architecture rules want to know about a file. */
export interface SourceFacts {
  readonly imports: readonly Import[];
  /** Calls as they are written, without their arguments: `process.exit()`, `new Date()`, `.prepare()`. */
  readonly calls: readonly string[];
  readonly strings: readonly string[];
  readonly reexports_all: boolean;
  readonly lines: number;
}

/** Reads one TypeScript source. Throws when it does not parse: a file that is not understood must not pass. */
export function parseSource(path: string, source: string): SourceFacts {
  const { program, errors } = parseSync(path, source);
  if (errors.length > 0) throw new Error(`${path} does not parse: ${errors[0]?.message}`);
  const imports: Import[] = [];
  const calls: string[] = [];
  const strings: string[] = [];
  let reexportsAll = false;
  new Visitor({
    ImportDeclaration: (node) => {
      const namespace = node.specifiers.some((one) => one.type === 'ImportNamespaceSpecifier');
      imports.push({ specifier: node.source.value, kind: isTypeImport(node) ? 'type' : 'static', namespace });
    },
    ExportNamedDeclaration: (node) => {
      if (node.source === null) return;
      imports.push({ specifier: node.source.value, kind: node.exportKind === 'type' ? 'type' : 'static' });
    },
    ExportAllDeclaration: (node) => {
      imports.push({ specifier: node.source.value, kind: node.exportKind === 'type' ? 'type' : 'static' });
      reexportsAll = true;
    },
    ImportExpression: (node) => {
      // A computed specifier cannot be checked, so it stands for a package that no room may import.
      const value = node.source.type === 'Literal' ? node.source.value : undefined;
      imports.push({ specifier: typeof value === 'string' ? value : '(computed)', kind: 'dynamic' });
    },
    TSImportType: (node) => {
      imports.push({ specifier: node.source.value, kind: 'type' });
    },
    CallExpression: (node) => {
      const { callee } = node;
      if (callee.type === 'Identifier') calls.push(`${callee.name}()`);
      if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return;
      calls.push(`.${callee.property.name}()`);
      if (callee.object.type === 'Identifier') calls.push(`${callee.object.name}.${callee.property.name}()`);
    },
    NewExpression: (node) => {
      if (node.callee.type !== 'Identifier') return;
      calls.push(`new ${node.callee.name}(${node.arguments.length > 0 ? '…' : ''})`);
    },
    Literal: (node) => {
      if (typeof node.value === 'string') strings.push(node.value);
    },
    TemplateLiteral: (node) => {
      strings.push(node.quasis.map((part) => part.value.raw).join('?'));
    },
  }).visit(program);
  const lines = source.split('\n').length - (source.endsWith('\n') ? 1 : 0);
  return { imports, calls, strings, reexports_all: reexportsAll, lines };
}

function isTypeImport(node: ESTree.ImportDeclaration): boolean {
  if (node.importKind === 'type') return true;
  if (node.specifiers.length === 0) return false;
  return node.specifiers.every((one) => one.type === 'ImportSpecifier' && one.importKind === 'type');
}
