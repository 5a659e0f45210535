import type { AttemptStore } from '../attempt-store.ts';

/** Every method of the port: one that is missing here does not compile. */
const METHODS: Readonly<Record<keyof AttemptStore, true>> = {
  startAttempt: true,
  changeAttempt: true,
  getAttempt: true,
  listAttempts: true,
  createRun: true,
  moveRun: true,
  noteRun: true,
  getRun: true,
  listRuns: true,
  listLostRuns: true,
  askStop: true,
  readWishes: true,
  listOpenRuns: true,
  takeWatch: true,
  noteUnwatched: true,
  listWatchedTasks: true,
  startReview: true,
  addStepResult: true,
  askVerdict: true,
  finishReview: true,
  clearReviews: true,
  listReviews: true,
  listOpenReviews: true,
  queueMerge: true,
  takeMerge: true,
  takeLanding: true,
  clearLanding: true,
  finishMerge: true,
  listOpenMerges: true,
  listMerges: true,
  askApproval: true,
  answerApproval: true,
  listApprovals: true,
  forgetApprovals: true,
  addMessage: true,
  listMessages: true,
  noteDelivered: true,
  takeMessages: true,
  findStep: true,
  keepStep: true,
  restoreAttempts: true,
};

/** The same store, whose code is loaded when it is first called: no cold read needs it. */
export function lazyAttempts(load: () => Promise<AttemptStore>): AttemptStore {
  const call = (name: string, args: unknown[]): Promise<unknown> =>
    load().then((store) => {
      const method = store[name as keyof AttemptStore]; // the names are those of the port
      return Reflect.apply(method, store, args) as Promise<unknown>;
    });
  const methods = Object.keys(METHODS).map(
    (name) => [name, (...args: unknown[]) => call(name, args)] as const,
  );
  return Object.fromEntries(methods) as unknown as AttemptStore; // each gives what the method of its name gives
}
