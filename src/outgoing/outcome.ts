/** A response of another host. */
export interface ForeignResponse {
  status: number;
  headers: Headers;
  /** After decoding the Content-Encoding. */
  body: Uint8Array;
  /** The URL that responded, after all redirects. */
  url: string;
}

/** The rules forbid the request, or a redirect of it, so it was not sent. The reason is public. */
export interface Blocked {
  kind: "blocked";
  reason: string;
}

/** There was no response, or it was not HTTP. The reason is public. */
export interface Unreached {
  kind: "network";
  reason: string;
}

/** The result of a request to another host. Nothing that the host does is thrown as an error. */
export type Outcome =
  | ({ kind: "answered" } & ForeignResponse)
  /** The body is longer than allowed; `body` holds its beginning. */
  | ({ kind: "too_large" } & ForeignResponse)
  | Blocked
  | Unreached
  /** Name resolution, redirects and the body together took longer than allowed. */
  | { kind: "timeout" };

export const blocked = (reason: string): Blocked => ({ kind: "blocked", reason });
export const unreached = (reason: string): Unreached => ({ kind: "network", reason });
