/** A delivery of a push, as the receiver saw it come. */
export type Arrival = {
  /** Path of the hook's address. */
  path: string;
  /** What the push moved the branch to. */
  commit: string;
  /** By the clock of clock.ts. */
  atMs: number;
};

/** What the receiver's process says. */
export type ReceiverMessage = { port: number } | Arrival;

/** Path of an address that takes everything and answers nothing. */
export const HANGING = "/hanging";
