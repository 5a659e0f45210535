import type { Item } from './judge-item.ts';
import { RELIABILITY_ITEMS } from './reliability-items.ts';
import { SECURITY_ITEMS } from './security-items.ts';

/** The whole checklist, in its order. */
export const ITEMS: readonly Item[] = [...SECURITY_ITEMS, ...RELIABILITY_ITEMS];
