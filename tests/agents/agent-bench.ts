import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'vitest';
import type { ProcessHost } from '#process/process-host.ts';
import { RECORDINGS, toRecordingText } from '../support/agent-recordings.ts';
import type { TestedAgent } from './agents.ts';
import type { ModelServer } from './model-server.ts';
import {
  openAgentPlace,
  playScenario,
  type AgentPlace,
  type Played,
  type Scenario,
} from './play-scenario.ts';
import { appendRow } from './report.ts';

/** Where the installed programs are, and where rows of the report go: both are told by run.ts. */
const bin = process.env['FORGE_AGENTS_BIN'] ?? '';
const rows = process.env['FORGE_AGENTS_ROWS'];

export interface AgentBench extends Disposable {
  readonly place: AgentPlace;
  readonly bin: string;
  /** The last run is the one that the report tells of; `keep` names the recording that is kept of it. */
  play(scenario: Scenario & { readonly keep?: string; readonly processes?: ProcessHost }): Promise<Played>;
  /** A remark in the report. */
  note(text: string): void;
  /** The agent does not do what the title says, but this. */
  cannot(text: string): void;
}

/** A place for one test. What is played there becomes a row of the report, whether it was as expected or not. */
export function openAgentBench(
  agent: TestedAgent,
  { task, onTestFinished }: TestContext,
  { server, processes }: { readonly server: ModelServer; readonly processes: ProcessHost },
): AgentBench {
  const place = openAgentPlace(agent, { bin, server });
  let last: { readonly played: Played; readonly keep: string | undefined } | undefined;
  let remark: { readonly can: boolean; readonly note?: string } = { can: true };
  onTestFinished(() => {
    const passed = (task.result?.errors?.length ?? 0) === 0;
    if (passed && last?.keep !== undefined) keepRecording(last.keep, last.played);
    if (rows === undefined || last === undefined) return;
    const { end, seconds } = last.played;
    const { outcome, exit_code } = end;
    appendRow(rows, { kind: agent.kind, title: task.name, passed, outcome, exit_code, seconds, ...remark });
  });
  return {
    place,
    bin,
    async play({ keep, ...scenario }) {
      const played = await playScenario(place, { name: keep ?? task.name, processes, ...scenario });
      last = { played, keep };
      return played;
    },
    note: (note) => {
      remark = { can: true, note };
    },
    cannot: (note) => {
      remark = { can: false, note };
    },
    [Symbol.dispose]: () => place[Symbol.dispose](),
  };
}

function keepRecording(name: string, { recording }: Played): void {
  writeFileSync(join(RECORDINGS, `${recording.head.executor}-${name}.jsonl`), toRecordingText(recording));
}
