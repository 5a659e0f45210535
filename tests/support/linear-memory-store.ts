import { decideClaim } from '#domain/decide-claim.ts';
import { isMoveEdge } from '#domain/decide-move.ts';
import { isExpired, watchLeases, type LeaseWatch, type Look } from '#domain/leases.ts';
import { DEFAULT_RESOLVED, findEdge, kindOf, statusOfKind } from '#domain/workflow.ts';
import {
  leaseTime,
  type Answer,
  type Facts,
  type Request,
  type Status,
  type TaskSetup,
} from './linear-history.ts';
import { plainClaim } from './plain-claim.ts';
import type { Random } from './random.ts';

/** Wrong ways to keep claims; the checker has to see each of them. */
export const BUGS = [
  'an agent begins work for another',
  'two owners: a claim looks and writes in two steps',
  'a release is lost',
  'a takeover keeps the fence',
  'a fence is given out again after a release',
  'an old fence is accepted',
  'an old fence renews a lease',
  'a takeover within the lease',
  'a takeover in the grace time',
  'leases are measured by the clocks of the clients',
  'a takeover without any lease',
  'a sweep gives back what is still held',
  'a renewal is told but not written',
  'a version is not checked',
  'a version does not rise',
  'a move is told but lost',
  'a move writes over what changed while it was decided',
  'a claim is carried out again after a crash',
  'a claim is forgotten when its holder crashes',
  'a move along a missing edge',
  'a reopened task keeps its owner',
  'a closed task can be claimed',
  'an agent ends the claim of another',
  'a task that waits can be claimed',
  "somebody else's role can be claimed",
  'a read is old',
] as const;
export type Bug = (typeof BUGS)[number];

interface Row {
  status: Status;
  state: string;
  owner: string | null;
  fence: number;
  version: number;
  lease: { fence: number; ttl_ms: number; expires_at: number } | undefined;
}

/** Each `yield` is a moment at which others may come in between; without a bug there is none. */
export type Run = Generator<undefined, Answer>;

/**
 * Claims over a map of rows, decided by the rules of `src/domain`, with a switch for a bug. What the checker knows of
 * those rules it has from its own model.
 */
export class MemoryStore {
  readonly #rows: Map<string, Row>;
  readonly #setups: readonly TaskSetup[];
  readonly #bug: Bug | undefined;
  readonly #random: Random;
  readonly #former = new Map<string, Facts>();
  #watch: LeaseWatch = { seen: 0, since: 0, asked: 0 };

  constructor(setups: readonly TaskSetup[], { bug, random }: { bug: Bug | undefined; random: Random }) {
    this.#setups = setups;
    this.#bug = bug;
    this.#random = random;
    this.#rows = new Map(setups.map(({ id }) => [id, newRow()]));
  }

  *run(request: Request): Run {
    if (request.op === 'grace') return this.#grace(this.#timeOf(request));
    if (request.op === 'next') return this.#next(request);
    const row = this.#get(request.task);
    const before = seen(row);
    const answer = yield* this.#change(row, request);
    if (row.version !== before.version) this.#former.set(request.task, { ...before });
    return answer;
  }

  /** What is done after a client died with this on its way. Without a bug: nothing. */
  recover(actor: string, request: Request | undefined): void {
    if (this.#has('a claim is carried out again after a crash') && request?.op === 'claim')
      this.#own(this.#get(request.task), request);
    if (!this.#has('a claim is forgotten when its holder crashes')) return;
    for (const row of this.#rows.values())
      if (row.owner === actor && row.status === 'in_progress')
        Object.assign(row, newRow(), { version: row.version - 1, fence: row.fence - 1 });
  }

  *#change(row: Row, request: Exclude<Request, { op: 'grace' | 'next' }>): Run {
    switch (request.op) {
      case 'claim':
        return yield* this.#claim(row, request);
      case 'renew':
        return this.#renew(row, request);
      case 'release':
        return this.#release(row, request);
      case 'transition':
        return yield* this.#transition(row, request);
      case 'close': {
        const refused = this.#check(row, request);
        if (refused !== undefined) return refused;
        const kept = this.#keptByOwner(row, request, { state: 'done', owner: row.owner });
        if (kept !== undefined) return kept;
        if (row.status !== 'closed') this.#write(row, { status: 'closed', state: 'done' });
        return ok(seen(row));
      }
      case 'reopen': {
        const refused = this.#check(row, request);
        if (refused !== undefined) return refused;
        if (row.status !== 'closed') return no('state_invalid', { status: row.status });
        const owner = this.#has('a reopened task keeps its owner') ? row.owner : null;
        this.#write(row, { status: 'open', state: 'todo', owner });
        return ok(seen(row));
      }
      case 'read': {
        const former = this.#has('a read is old') ? this.#former.get(request.task) : undefined;
        return ok(former ?? { ...seen(row), fence: row.fence });
      }
    }
  }

  *#claim(row: Row, request: Extract<Request, { op: 'claim' }>): Run {
    const { actor, force } = request;
    const setup = this.#setups.find(({ id }) => id === request.task);
    const isOthers = row.status === 'in_progress' && row.owner !== null && row.owner !== actor;
    const life = {
      status: this.#has('a closed task can be claimed') ? openIf(row) : row.status,
      state: row.state,
      assignee: row.owner,
    };
    const waits = setup?.waits === true && !this.#has('a task that waits can be claimed');
    const decision = decideClaim(
      plainClaim(life, {
        assignee: actor,
        way: force ? 'force' : 'claim',
        blockers: waits ? [{ in_gate: false, submitted_by: null }] : [],
        lease_over: isOthers && this.#isOver(row, this.#timeOf(request)),
      }),
      DEFAULT_RESOLVED,
    );
    if (decision.outcome === 'mine') {
      this.#grant(row, request);
      return ok({ ...seen(row), fence: row.fence });
    }
    if (decision.outcome !== 'claim') return no(decision.outcome, seen(row));
    const holder = this.#has("somebody else's role can be claimed") ? undefined : setup?.coder;
    const role = row.status === 'open' || row.state === 'in_progress';
    if (role && holder !== undefined && holder !== actor && !force) return no('role', seen(row));
    if (this.#has('two owners: a claim looks and writes in two steps')) yield undefined;
    this.#own(row, request);
    return ok({ ...seen(row), fence: row.fence });
  }

  #next(request: Extract<Request, { op: 'next' }>): Answer {
    const { actor } = request;
    const now = this.#timeOf(request);
    const until = ({ lease }: Row): number => lease?.expires_at ?? 0;
    for (const row of [...this.#rows.values()].sort((a, b) => until(a) - until(b))) {
      const { lease } = row;
      if (row.status !== 'in_progress' || lease === undefined || lease.fence !== row.fence) continue;
      const held = this.#has('a sweep gives back what is still held');
      if (!held && (!isExpired(lease, now) || !this.#look(now, lease.ttl_ms, 'judge'))) continue;
      this.#write(row, { status: 'open', state: 'todo', owner: null });
      row.lease = undefined;
    }
    for (const { id, coder, waits } of this.#setups) {
      const row = this.#get(id);
      const free = row.status === 'open' && row.state === 'todo' && row.owner === null;
      if (!free || waits || (coder !== undefined && coder !== actor)) continue;
      this.#own(row, request);
      return ok({ ...seen(row), fence: row.fence, task: id });
    }
    return no('nothing_ready', {});
  }

  #renew(row: Row, request: Extract<Request, { op: 'renew' }>): Answer {
    const { now, fence } = request;
    const old = this.#has('an old fence renews a lease') && row.lease !== undefined;
    const refused = old ? undefined : this.#check(row, { fence });
    if (refused !== undefined) return refused;
    const { lease } = row;
    if (lease === undefined || (lease.fence !== fence && !old)) return no('state_invalid', {});
    if (!this.#has('a renewal is told but not written'))
      this.#grant(row, { ...request, lease_ms: lease.ttl_ms });
    return ok({ expires_at: now + lease.ttl_ms });
  }

  #release(row: Row, { actor, force, fence }: Extract<Request, { op: 'release' }>): Answer {
    if (row.status !== 'in_progress') return no('state_invalid', { status: row.status });
    const refused = this.#check(row, { fence });
    if (refused !== undefined) return refused;
    if (row.owner !== actor && !force) return no('claim_conflict', { owner: row.owner });
    if (kindOf(DEFAULT_RESOLVED, row.state) === 'gate' && !force) return no('state_invalid', {});
    const told = {
      ...seen(row),
      status: 'open',
      state: 'todo',
      owner: null,
      version: row.version + 1,
    } as const;
    if (this.#has('a release is lost') && this.#random.oneIn(4)) return ok(told);
    this.#write(row, { status: 'open', state: 'todo', owner: null });
    if (this.#has('a fence is given out again after a release')) row.fence -= 2;
    return ok(seen(row));
  }

  *#transition(row: Row, request: Extract<Request, { op: 'transition' }>): Run {
    const { to, actor, version, fence } = request;
    const refused = this.#check(row, { version });
    if (refused !== undefined) return refused;
    const setup = this.#setups.find(({ id }) => id === request.task);
    const edge = findEdge(DEFAULT_RESOLVED, row.state, to);
    const known = isMoveEdge(edge);
    const kind = kindOf(DEFAULT_RESOLVED, to) ?? 'custom';
    const isGated = row.state === 'todo' || row.state === 'blocked';
    if (known && setup?.waits === true && isGated && kind === 'active') return no('guard_rejected', {});
    const over = this.#check(row, { fence });
    if (over !== undefined) return over;
    if (!known && !this.#has('a move along a missing edge')) return no('state_invalid', { state: row.state });
    const status = statusOfKind(kind);
    const holder = to === 'in_progress' ? setup?.coder : undefined;
    const worker = holder ?? row.owner ?? (kind === 'active' ? actor : null);
    const owner = status === 'open' ? null : status === 'closed' ? row.owner : worker;
    const isAnothers =
      !this.#has('an agent begins work for another') &&
      holder !== undefined &&
      holder !== actor &&
      row.owner !== holder;
    const isFromGate = kindOf(DEFAULT_RESOLVED, row.state) === 'gate';
    if (isAnothers && !isFromGate && (row.status === 'open' || row.owner !== actor))
      return no('role_conflict', {});
    const kept = this.#keptByOwner(row, request, { state: to, owner });
    if (kept !== undefined) return kept;
    if (this.#has('a move writes over what changed while it was decided')) yield undefined;
    const told = { status, state: to, owner, version: row.version + 1 };
    if (this.#has('a move is told but lost') && this.#random.oneIn(4)) return ok(told);
    this.#write(row, { status, state: to, owner });
    return ok(seen(row));
  }

  #keptByOwner(
    row: Row,
    { actor, by_person }: Extract<Request, { op: 'close' | 'transition' }>,
    { state, owner }: { readonly state: string; readonly owner: string | null },
  ): Answer | undefined {
    if (row.owner === null || row.owner === actor || by_person === true || row.status === 'closed')
      return undefined;
    const kind = kindOf(DEFAULT_RESOLVED, state) ?? 'custom';
    const ends = owner !== row.owner || statusOfKind(kind) === 'closed';
    const isFromGate = kindOf(DEFAULT_RESOLVED, row.state) === 'gate';
    const isVerdict = isFromGate && findEdge(DEFAULT_RESOLVED, row.state, state) === 'edge';
    if (!ends || isVerdict || this.#has('an agent ends the claim of another')) return undefined;
    return no('claim_conflict', { owner: row.owner });
  }

  #grace(now: number): Answer {
    const hasLeases = [...this.#rows.values()].some(({ lease }) => lease !== undefined);
    if (hasLeases) this.#watch = { seen: now, since: now, asked: now };
    return ok({});
  }

  #own(row: Row, claim: Extract<Request, { op: 'claim' | 'next' }>): void {
    const state = row.status === 'in_progress' ? row.state : 'in_progress';
    const isTakeover = row.status === 'in_progress';
    const { fence } = row;
    this.#write(row, { status: 'in_progress', state, owner: claim.actor });
    if (isTakeover && this.#has('a takeover keeps the fence')) row.fence = fence;
    this.#grant(row, claim);
  }

  #write(row: Row, to: { status: Status; state: string; owner?: string | null }): void {
    const owner = to.owner === undefined ? row.owner : to.owner;
    if (owner !== row.owner) row.fence += 1;
    if (!this.#has('a version does not rise') || to.status !== 'open') row.version += 1;
    Object.assign(row, to, { owner });
  }

  #grant(row: Row, request: Pick<Request, 'now' | 'steady'> & { readonly lease_ms?: number }): void {
    const { lease_ms } = request;
    if (lease_ms === undefined) return;
    const now = this.#timeOf(request);
    this.#look(now, lease_ms, 'hold');
    row.lease = { fence: row.fence, ttl_ms: lease_ms, expires_at: now + lease_ms };
  }

  #isOver({ lease, fence }: Row, now: number): boolean {
    if (this.#has('a takeover without any lease') && lease === undefined) return true;
    if (lease === undefined || lease.fence !== fence) return false;
    const isOver = isExpired(lease, now) || this.#has('a takeover within the lease');
    if (!isOver) return false;
    return this.#look(now, lease.ttl_ms, 'judge') || this.#has('a takeover in the grace time');
  }

  #look(at: number, ttl: number, look: Look): boolean {
    const { may_judge, ...watch } = watchLeases(this.#watch, { at }, { ttl, look });
    this.#watch = watch;
    return may_judge;
  }

  #timeOf(request: Pick<Request, 'now' | 'steady'>): number {
    return this.#has('leases are measured by the clocks of the clients') ? request.now : leaseTime(request);
  }

  #check(row: Row, asked: { version?: number | undefined; fence?: number | undefined }): Answer | undefined {
    const { version, fence } = asked;
    if (version !== undefined && version !== row.version && !this.#has('a version is not checked'))
      return no('version_conflict', { version: row.version });
    if (fence !== undefined && fence !== row.fence && !this.#has('an old fence is accepted'))
      return no('fence_conflict', { fence: row.fence, owner: row.owner });
    return undefined;
  }

  #has(bug: Bug): boolean {
    return this.#bug === bug;
  }

  #get(id: string): Row {
    const row = this.#rows.get(id);
    if (row === undefined) throw new Error(`no task ${id}`);
    return row;
  }
}

function newRow(): Row {
  return { status: 'open', state: 'todo', owner: null, fence: 0, version: 1, lease: undefined };
}

function openIf(row: Row): Status {
  return row.status === 'closed' ? 'open' : row.status;
}

function seen({ status, state, owner, version }: Row): Facts {
  return { status, state, owner, version };
}

function ok(facts: Facts): Answer {
  return { code: 'ok', facts };
}

function no(code: string, facts: Facts): Answer {
  return { code, facts };
}
