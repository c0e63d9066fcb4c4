/** The arrival of a push delivery at the receiver. */
export type Arrival = {
  /** Path of the hook's URL. */
  path: string;
  /** The new commit of the branch. */
  commit: string;
  /** Time by the clock of clock.ts. */
  atMs: number;
};

/** Messages of the receiver's process. */
export type ReceiverMessage = { port: number } | Arrival;

/** Path that accepts every request and never responds. */
export const HANGING = "/hanging";
