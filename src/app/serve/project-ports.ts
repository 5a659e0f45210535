import { systemActor } from '#domain/actor.ts';
import type { Clock } from '#kernel/clock.ts';
import { ForgeError } from '#kernel/errors.ts';
import type { EventSource } from '#operations/event-source.ts';
import type { CallPlace, IdempotencyPort, ServedProject } from '#surfaces/http/http-ports.ts';
import type { TellLate } from '#surfaces/http/long-request.ts';
import { toProjectRef } from '../operation-caller.ts';
import type { ServerProjects } from '../server-projects.ts';
import type { ServerProject } from './server-project.ts';

/** What the surfaces want to know of the projects, each in their own words. */

export function listServed(projects: ServerProjects): ServedProject[] {
  return projects.list().map(({ name, prefix, path }) => ({ name, prefix, path }));
}

export function listSources(projects: ServerProjects): EventSource[] {
  return projects.list().map((project) => ({
    project: project.prefix,
    newestEvent: () => project.use(({ store }) => store.newestEvent()),
    readFeed: () => project.use(({ store }) => store.readFeed()),
    readEvents: (query) => project.use(({ store }) => store.readEvents(query)),
  }));
}

/** By which database, and since which write of it. */
export function createStamp(projects: ServerProjects): (place: CallPlace) => Promise<string | undefined> {
  return async ({ name, input, project }) => {
    try {
      const found = await projects.find(toProjectRef({ name, project }, input));
      return await found.use(
        async ({ store, paths }) => `${paths.database} ${found.generation} ${await store.readStamp()}`,
      );
    } catch {
      return undefined; // the call itself says what is wrong with it
    }
  };
}

/** How a request that was answered early ended stands in the feed of its project. */
export function createTellLate(projects: ServerProjects, clock: Clock): TellLate {
  return async ({ name, input, project }, outcome) => {
    const found = await projects.find(toProjectRef({ name, project }, input));
    const by = { actor: systemActor('server'), now: clock.now() };
    await found.use(({ store }) => store.noteEvent({ type: 'request.finished', data: outcome }, by));
  };
}

/** A request is remembered where what it asks for happens; what is about no project, in the first one. */
export function createIdempotency(projects: ServerProjects): IdempotencyPort {
  const placeOf = async ({ name, input, project }: CallPlace): Promise<ServerProject> => {
    const [first] = projects.list();
    if (first === undefined)
      throw new ForgeError('not_available', 'Without a project there is nowhere to remember a request');
    try {
      return await projects.find(toProjectRef({ name, project }, input));
    } catch {
      // The call itself says what is wrong with it.
      return first;
    }
  };
  return {
    begin: async (place, request) => (await placeOf(place)).use(({ store }) => store.beginRequest(request)),
    finish: async (place, request, answer) =>
      (await placeOf(place)).use(({ store }) => store.finishRequest(request, answer)),
    drop: async (place, request) => (await placeOf(place)).use(({ store }) => store.dropRequest(request)),
  };
}
