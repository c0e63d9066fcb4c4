/** An answer of another host. */
export interface ForeignAnswer {
  status: number;
  headers: Headers;
  /** Decoded of its Content-Encoding. */
  body: Uint8Array;
  /** What answered, after all redirects. */
  url: string;
}

/** A request that was not sent, or not sent on: the guard forbids it. The reason is public. */
export interface Blocked {
  kind: "blocked";
  reason: string;
}

/** Nobody answered, or not in HTTP. The reason is public. */
export interface Unreached {
  kind: "network";
  reason: string;
}

/** What came of a request to another host. Whatever that host does is one of these, and no error. */
export type Outcome =
  | ({ kind: "answered" } & ForeignAnswer)
  /** The body is longer than allowed; the answer holds its beginning. */
  | ({ kind: "too_large" } & ForeignAnswer)
  | Blocked
  | Unreached
  /** The whole of it took longer than allowed: names, redirects, the body. */
  | { kind: "timeout" };

export const blocked = (reason: string): Blocked => ({ kind: "blocked", reason });
export const unreached = (reason: string): Unreached => ({ kind: "network", reason });
