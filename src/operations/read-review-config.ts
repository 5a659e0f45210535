import type { ReviewConfig } from '#contract/task.ts';
import { ForgeError } from '#kernel/errors.ts';
import type { Json } from '#kernel/json.ts';
import { LIMITS } from '#kernel/limits.ts';

/** What a task must pass in review, as it was given; null takes it away. Throws invalid_input. */
export function readReviewConfig(value: Readonly<Record<string, unknown>> | null): Json {
  if (value === null) return null;
  const config: { -readonly [K in keyof ReviewConfig]: ReviewConfig[K] } = {};
  for (const [key, given] of Object.entries(value)) {
    if (key === 'ci_steps') config.ci_steps = readSteps(given);
    else if (key === 'review_prompt' && typeof given === 'string' && given.length <= LIMITS.description_bytes)
      config.review_prompt = given;
    else throw wrong(`"${key}" is not ci_steps, a list of commands, or review_prompt, a text`);
  }
  return config as Json;
}

function readSteps(given: unknown): string[] {
  const steps: unknown[] = Array.isArray(given) ? given : [given];
  if (steps.length > LIMITS.ci_steps) throw wrong(`there are at most ${LIMITS.ci_steps} steps`);
  return steps.map((step) => {
    if (typeof step !== 'string' || step.trim() === '' || step.includes('\0'))
      throw wrong('a step is a command');
    if (step.length <= LIMITS.ci_step_length) return step;
    throw wrong(`a step has at most ${LIMITS.ci_step_length} characters`);
  });
}

function wrong(why: string): ForgeError {
  return new ForgeError('invalid_input', `The review's config is not one: ${why}`, {
    hint: `forge task update <id> --review-config 'ci_steps=["npm test"]'`,
  });
}
