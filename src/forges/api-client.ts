import type { z } from "zod";

import { RemoteFailure } from "../domain/remotes/remote-failure.ts";
import type { ForeignResponse, Outcome } from "../outgoing/outcome.ts";
import type { Outgoing } from "../outgoing/outgoing.ts";
import { findNextQuery } from "./link-header.ts";
import { retryTimeOf } from "./rate-limit.ts";

/** The answer to a request of a forge's API. */
export interface ApiAnswer<T> {
  readonly value: T;
  /** How many items there are on all pages, if the forge tells. */
  readonly total: number | undefined;
  /** What to get for the next page: a path with a query; undefined if no link leads further. */
  readonly next: string | undefined;
}

export interface ApiClientOptions {
  /** Where the API's paths begin, such as `https://gitea.example/api/v1`. */
  readonly baseUrl: string;
  /** Of each request. */
  readonly headers: Readonly<Record<string, string>>;
  /** Those of them that are secret, besides those whose names say so. */
  readonly secretHeaders?: readonly string[];
  readonly now: () => number;
}

export type ApiQuery = Readonly<Record<string, string | number | boolean | undefined>>;

const LIMITS = { timeoutMs: 30_000, bodyBytesMax: 20_000_000, redirectsMax: 5 };

/** Requests to a forge's API: JSON, paged, with its rate limits, by the guarded client. */
export class ApiClient {
  private readonly outgoing: Outgoing;
  private readonly options: ApiClientOptions;
  private readonly base: URL;

  /** @throws RemoteFailure `blocked` if the base is no address. */
  constructor(outgoing: Outgoing, options: ApiClientOptions) {
    const base = URL.parse(options.baseUrl);
    if (!base) throw new RemoteFailure("blocked", "this is no address");
    this.outgoing = outgoing;
    this.options = options;
    this.base = base;
  }

  /**
   * Gets JSON of a shape. Of a list it is a page.
   *
   * @param path  Below the base, from `/`; its values are encoded by the caller. It may have a query, as `next` has.
   * @param query Is added; values that are undefined are left out.
   * @throws RemoteFailure `rate_limited` with the time when the limit ends, `unauthorized` (401, 403), `not_found`
   * (404, 410), `server` (5xx), `refused` (any other refusal), `protocol` if the answer is no JSON of the shape,
   * `too_large`, `timeout`, `unreachable`, `blocked`.
   */
  async get<T>(path: string, shape: z.ZodType<T>, query: ApiQuery = {}): Promise<ApiAnswer<T>> {
    const asked = this.urlOf(path, query);
    const { headers, secretHeaders = [] } = this.options;
    const outcome = await this.outgoing.fetchGuarded(
      asked.href,
      { headers: { Accept: "application/json", ...headers }, secretHeaders },
      LIMITS,
    );
    const response = this.responseOf(outcome, asked);
    const parsed = shape.safeParse(readJson(response, asked));
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      const field = issue?.path.join(".").slice(0, 100) || "its whole";
      throw new RemoteFailure(
        "protocol",
        `${nameOf(asked)} is not what its API documents: ${field}`,
      );
    }
    const next = findNextQuery(response.headers.get("Link"), asked);
    return {
      value: parsed.data,
      total: countOf(response.headers, "X-Total-Count") ?? countOf(response.headers, "X-Total"),
      // SECURITY: of the link only the query is taken, so that no page leads to another path or host.
      next: next === undefined ? undefined : `${path.replace(/\?.*/s, "")}${next}`,
    };
  }

  /** Whether an address is on the server of the API, so that its credentials may be sent there. */
  isOwn(url: string): boolean {
    return URL.parse(url)?.origin === this.base.origin;
  }

  private urlOf(path: string, query: ApiQuery): URL {
    // Not resolved against the base, since `//host/` would be another host.
    const url = new URL(`${this.base.origin}${this.base.pathname.replace(/\/+$/, "")}${path}`);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    return url;
  }

  /** @throws RemoteFailure for everything but an answer of success. */
  private responseOf(outcome: Outcome, asked: URL): ForeignResponse {
    switch (outcome.kind) {
      case "blocked":
        throw new RemoteFailure("blocked", outcome.reason);
      case "network":
        throw new RemoteFailure("unreachable", outcome.reason);
      case "timeout":
        throw new RemoteFailure("timeout", `${nameOf(asked)} took too long`);
      case "too_large":
      case "answered":
        break;
      default:
        return outcome satisfies never;
    }
    const failure = failureOf(outcome, asked, this.options.now());
    if (failure) throw failure;
    if (outcome.kind === "too_large") {
      throw new RemoteFailure("too_large", `${nameOf(asked)} is too large`);
    }
    return outcome;
  }
}

/** What the status of an answer means; undefined for success. */
function failureOf(response: ForeignResponse, asked: URL, now: number): RemoteFailure | undefined {
  const { status } = response;
  if (status >= 200 && status < 300) return undefined;
  const says = `${nameOf(asked)} was answered with ${status}`;
  const retryAt = retryTimeOf(response, now);
  if (retryAt !== undefined) return new RemoteFailure("rate_limited", says, retryAt);
  if (status === 401 || status === 403) return new RemoteFailure("unauthorized", says);
  if (status === 404 || status === 410) return new RemoteFailure("not_found", says);
  if (status >= 500) return new RemoteFailure("server", says);
  return new RemoteFailure(status >= 400 ? "refused" : "protocol", says);
}

function readJson({ body }: ForeignResponse, asked: URL): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    // A page of HTML, such as a sign-in or a proxy's, or an answer in another encoding.
    throw new RemoteFailure("protocol", `${nameOf(asked)} is no JSON`);
  }
}

function countOf(headers: Headers, name: string): number | undefined {
  const text = headers.get(name) ?? "";
  return /^\d{1,12}$/.test(text) ? Number(text) : undefined;
}

/** How messages name a request: without its query, which may hold much. */
const nameOf = ({ host, pathname }: URL): string => `GET ${host}${pathname}`;
