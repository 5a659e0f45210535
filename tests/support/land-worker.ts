import { findRepository } from '#git/find-repository.ts';
import { landTarget } from '#git/land-target.ts';
import { testGitEnv } from './temp-repo.ts';
import { witness } from './landing-witness.ts';

/**
 * Lands a commit on main, and is killed at the `nth` time of a step: alone, or with the git that it has started
 * (`group`). `settling` is some time after the last step.
 */
const [folder = '', old = '', commit = '', step = '', nth = '1', whom = 'alone'] = process.argv.slice(2);
const repo = findRepository(folder);
if (repo === undefined) throw new Error(`no repository in ${folder}`);
let times = 0;
const die = (): void => void process.kill(whom === 'group' ? 0 : process.pid, 'SIGKILL');
const landing = await landTarget(
  { ...repo, env: testGitEnv() },
  {
    branch: 'main',
    old,
    commit,
    witness,
    on_step(at) {
      if (at === 'committed' && step === 'settling') setTimeout(die, 50);
      if (at !== step) return;
      times += 1;
      if (times === Number(nth)) die();
    },
  },
);
process.stdout.write(JSON.stringify(landing));
