/** `done` of `total`, in whatever the work is counted; both 0 at its end. */
export type WorkMeter = (label: string, done: number, total: number) => void;
