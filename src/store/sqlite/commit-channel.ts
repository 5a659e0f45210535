import { channel, subscribe, unsubscribe } from 'node:diagnostics_channel';

/**
 * What was committed in this process to the database of a path, whichever of its connections did: a server has several
 * to the same one. Nothing happens where no waiter listens.
 */
export function tellCommits(database: string): () => void {
  const told = channel(toName(database));
  return () => {
    if (told.hasSubscribers) told.publish(undefined);
  };
}

/** Gives what ends it. */
export function onCommit(database: string, listen: () => void): () => void {
  const name = toName(database);
  subscribe(name, listen);
  return () => void unsubscribe(name, listen);
}

function toName(database: string): string {
  return `forge.commit:${database}`;
}
