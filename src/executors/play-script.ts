import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { runProgram } from '#process/run-program.ts';
import { isInside } from './is-inside.ts';
import { fieldsOf, numberOf, parseFields, textOf, type Fields } from './protocols/fields.ts';

/**
 * The agent behind the script executor: a program of its own that reads what to do from its standard input. Nothing
 * of Forge is in it but the steps.
 */
export async function playScript(): Promise<void> {
  const input = createInterface({ input: process.stdin });
  const player = new Player(input[Symbol.asyncIterator](), process.cwd());
  try {
    await player.play();
  } catch (error) {
    write({ done: { fail: { message: error instanceof Error ? error.message : String(error) } } });
    process.exitCode = 1;
  } finally {
    input.close();
  }
}

class Player {
  readonly #lines: ReturnType<Interface[typeof Symbol.asyncIterator]>;
  readonly #cwd: string;
  #calls = 0;
  #answer: unknown;
  /** The step behind a question that was refused. */
  #skip = false;
  #ended = false;

  constructor(lines: ReturnType<Interface[typeof Symbol.asyncIterator]>, cwd: string) {
    this.#lines = lines;
    this.#cwd = cwd;
  }

  async play(): Promise<void> {
    const { steps } = await this.#read();
    for (const step of Array.isArray(steps) ? steps.map(fieldsOf) : []) {
      const skip = this.#skip;
      this.#skip = false;
      if (!skip) await this.#playStep(step);
      if (this.#ended) return;
    }
    write({ done: { answer: this.#answer } });
  }

  async #playStep(step: Fields): Promise<void> {
    const [[name, value] = ['', undefined]] = Object.entries(step);
    switch (name) {
      case 'write':
      case 'append':
      case 'delete':
        return this.#changeFile(name, fieldsOf(value));
      case 'say':
        return tell({ kind: 'message', role: 'agent', text: textOf(value) });
      case 'think':
        return tell({ kind: 'thought', text: textOf(value) });
      case 'tool':
        return this.#playTool(fieldsOf(value));
      case 'ask':
        return this.#ask(fieldsOf(value));
      case 'sleep_ms':
        return sleep(numberOf(value) ?? 0);
      case 'run':
        return this.#run('run', value as string[]); // checked when the script was read
      case 'commit':
        return this.#commit(textOf(value) ?? '');
      case 'usage':
        return write({ usage: value });
      case 'answer':
        this.#answer = value;
        return undefined;
      case 'fail':
        return this.#end(1, { done: { fail: value } });
      case 'exit':
        return this.#end(numberOf(value) ?? 0);
      default:
        throw new Error(`There is no step ${name}`);
    }
  }

  #changeFile(what: 'write' | 'append' | 'delete', input: Fields): void {
    const path = textOf(input['path']) ?? '';
    const full = resolve(this.#cwd, path);
    if (!isInside(full, this.#cwd)) throw new Error(`${path} is outside of the checkout`);
    const id = this.#call(what, input);
    if (what === 'delete') rmSync(full, { recursive: true, force: true });
    else {
      mkdirSync(dirname(full), { recursive: true });
      const text = textOf(input['text']) ?? '';
      if (what === 'write') writeFileSync(full, text);
      else appendFileSync(full, text);
    }
    tell({ kind: 'tool_result', id, is_error: false, text: 'done' });
  }

  #playTool({ tool, input, output, is_error }: Fields): void {
    const id = this.#call(textOf(tool) ?? 'tool', input ?? {});
    tell({ kind: 'tool_result', id, is_error: is_error === true, text: textOf(output) ?? '' });
  }

  async #ask(ask: Fields): Promise<void> {
    this.#calls += 1;
    write({ ask: { ...ask, id: `ask-${this.#calls}` } });
    const { decision } = await this.#read();
    this.#skip = decision !== 'allowed';
  }

  async #commit(message: string): Promise<void> {
    await this.#run('commit', ['git', 'add', '--all']);
    const who = ['-c', 'user.name=Forge script', '-c', 'user.email=script@localhost'];
    await this.#run('commit', ['git', ...who, 'commit', '--quiet', '--message', message]);
  }

  async #run(tool: string, argv: readonly string[]): Promise<void> {
    const [program = '', ...args] = argv;
    const id = this.#call(tool, { argv });
    const { exit, stdout, stderr } = await runProgram(program, args, { cwd: this.#cwd, env: process.env });
    tell({ kind: 'tool_result', id, is_error: exit !== 0, text: `${stdout}${stderr}` });
  }

  #call(tool: string, input: unknown): string {
    this.#calls += 1;
    const id = `call-${this.#calls}`;
    tell({ kind: 'tool_call', id, tool, input });
    return id;
  }

  #end(exit: number, last?: Fields): void {
    if (last !== undefined) write(last);
    process.exitCode = exit;
    this.#ended = true;
  }

  async #read(): Promise<Fields> {
    const { value, done } = await this.#lines.next();
    if (done === true) throw new Error('Forge has closed the conversation');
    return parseFields(value) ?? {};
  }
}

function tell(entry: Fields): void {
  write({ entry });
}

function write(message: Fields): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}
