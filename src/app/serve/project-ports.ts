import { systemActor } from '#domain/actor.ts';
import type { Clock } from '#kernel/clock.ts';
import type { EventSource } from '#operations/event-source.ts';
import type { CallPlace, IdempotencyPort, ServedProject } from '#surfaces/http/http-ports.ts';
import type { TellLate } from '#surfaces/http/long-request.ts';
import { toProjectRef } from '../operation-caller.ts';
import type { ServerProjects } from '../server-projects.ts';
import { createRequestMemory, type RequestMemory } from './request-memory.ts';

/** What the surfaces want to know of the projects, each in their own words. */

export function listServed(projects: ServerProjects): ServedProject[] {
  return projects.list().map((project) => ({
    name: project.name,
    prefix: project.prefix,
    path: project.path,
    readPause: () => project.readPause(),
  }));
}

export function listSources(projects: ServerProjects): EventSource[] {
  return projects.list().map((project) => ({
    project: project.prefix,
    // It may stand as long as nothing happens, and keeps a database open that was replaced for a second at most.
    waitFor: (after, wait) => project.use(({ store }) => store.waitFor(after, wait)),
    newestEvent: () => project.use(({ store }) => store.newestEvent()),
    readFeed: () => project.use(({ store }) => store.readFeed()),
    readEvents: (query) => project.use(({ store }) => store.readEvents(query)),
  }));
}

/** By which database, and since which write of it. */
export function createStamp(projects: ServerProjects): (place: CallPlace) => Promise<string | undefined> {
  return async (place) => {
    try {
      const found = await projects.find(toProjectRef(place, place.input));
      return await found.use(
        async ({ store }) => `${found.store_id} ${found.generation} ${await store.readStamp()}`,
      );
    } catch {
      return undefined; // the call itself says what is wrong with it
    }
  };
}

/** How a request that was answered early ended stands in the feed of its project. */
export function createTellLate(projects: ServerProjects, clock: Clock): TellLate {
  return async (place, outcome) => {
    const found = await projects.find(toProjectRef(place, place.input));
    const by = { actor: systemActor('server'), now: clock.now() };
    await found.use(({ store }) => store.noteEvent({ type: 'request.finished', data: outcome }, by));
  };
}

/** A request is remembered where what it asks for happens; what is about no project, in the first one. */
export function createIdempotency(projects: ServerProjects): IdempotencyPort {
  // Where there is no project there is no database either; what such a server does is soon done.
  const memory = createRequestMemory();
  const use = async <T>(place: CallPlace, work: (store: RequestMemory) => Promise<T>): Promise<T> => {
    const [first] = projects.list();
    if (first === undefined) return work(memory);
    // Where it finds none, the call itself says what is wrong with it.
    const found = await projects.find(toProjectRef(place, place.input)).catch(() => first);
    return found.use(({ store }) => work(store));
  };
  return {
    begin: (place, request) => use(place, (store) => store.beginRequest(request)),
    finish: (place, request, answer) => use(place, (store) => store.finishRequest(request, answer)),
    drop: (place, request) => use(place, (store) => store.dropRequest(request)),
  };
}
