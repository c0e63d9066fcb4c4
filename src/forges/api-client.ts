import type { z } from "zod";

import { parseJson } from "../lib/json.ts";
import { RemoteFailure } from "../outgoing/remote-failure.ts";
import type { ForeignResponse, Outcome } from "../outgoing/outcome.ts";
import type { Outgoing } from "../outgoing/outgoing.ts";
import { canSeeSecrets } from "../outgoing/redirect.ts";
import { findNextQuery } from "./link-header.ts";
import { ABSENCES } from "./optional.ts";
import { retryTimeOf } from "./rate-limit.ts";
import type { StepAnswer, StepAnswers } from "./step-answers.ts";
import { asksForTwoFactors, TWO_FACTORS_REQUIRED } from "./two-factors.ts";

/** The answer to a request of a forge's API. */
export interface ApiAnswer<T> {
  readonly value: T;
  /** The number of items on all pages, if the forge states it. */
  readonly total: number | undefined;
  /** The path and query of the next page; undefined if no link leads further. */
  readonly next: string | undefined;
}

export interface ApiClientOptions {
  /** Where the API's paths begin, such as `https://gitea.example/api/v1`. */
  readonly baseUrl: string;
  /** The headers of each request. */
  readonly headers: Readonly<Record<string, string>>;
  /** The names of secret headers, besides those that are always secret. */
  readonly secretHeaders?: readonly string[];
  readonly now: () => number;
  /** The stored answers to the present step; undefined to request everything. */
  readonly answers?: StepAnswers | undefined;
  /** Waits some milliseconds before a request is repeated. */
  readonly wait?: (ms: number) => Promise<void>;
}

const waitByTimer = (ms: number): Promise<void> =>
  new Promise((resolve) => void setTimeout(resolve, ms));

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
   * Gets JSON of a shape: a page, for a list. After a failure of the server, or a limit that ends
   * at once, the request is repeated twice.
   *
   * @param path  Below the base, from `/`; its values are encoded by the caller. It may have a
   *   query, as `next` has.
   * @param query Is added; values that are undefined are left out.
   * @throws RemoteFailure `rate_limited` with the time when the limit ends, `unauthorized` (401,
   * 403), `not_found` (404, 410), `server` (5xx), `refused` (any other refusal), `protocol` if the
   * answer is no JSON of the shape, `too_large`, `timeout`, `unreachable`, `blocked`.
   */
  async get<T>(path: string, shape: z.ZodType<T>, query: ApiQuery = {}): Promise<ApiAnswer<T>> {
    const asked = this.urlOf(path, query);
    const { value, total, next } = await this.answerOf(asked);
    const parsed = shape.safeParse(value);
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      const field = issue?.path.join(".").slice(0, 100) || "its whole";
      throw new RemoteFailure(
        "protocol",
        `${nameOf(asked)} is not what its API documents: ${field}`,
      );
    }
    return {
      value: parsed.data,
      total,
      // SECURITY: of the link only the query is taken, so that no page leads to another path or
      // host.
      next: next === undefined ? undefined : `${path.replace(/\?.*/s, "")}${next}`,
    };
  }

  /** Whether an address is on the server of the API, so that its credentials may be sent there. */
  isOwn(text: string): boolean {
    const url = URL.parse(text);
    return url !== null && canSeeSecrets(this.base, url);
  }

  /** The answer to an earlier attempt of the step, or else to a new request. */
  private async answerOf(asked: URL): Promise<ApiAnswer<unknown>> {
    const { answers } = this.options;
    const earlier = answers?.take(asked.href);
    if (earlier) return await toAnswer(earlier, asked);
    try {
      const response = await this.request(asked);
      const { headers } = response;
      const text = readText(response, asked);
      const value = await readJson(text, asked);
      const total = countOf(headers, "X-Total-Count") ?? countOf(headers, "X-Total");
      // Nothing follows a page without items: otherwise a list could go on for ever.
      const isEnd = Array.isArray(value) && value.length === 0;
      const next = isEnd ? undefined : findNextQuery(headers.get("Link"), asked);
      answers?.add(asked.href, { text, total, next });
      return { value, total, next };
    } catch (error) {
      if (error instanceof RemoteFailure && ABSENCES.has(error.kind)) {
        answers?.add(asked.href, { refusal: error.kind, message: error.message });
      }
      throw error;
    }
  }

  /**
   * Repeats what fails for a moment: a step of a job makes many requests, and all are lost with
   * one.
   */
  private async request(asked: URL): Promise<ForeignResponse> {
    const { headers, secretHeaders = [], now, wait = waitByTimer } = this.options;
    for (let attempt = 0; ; attempt++) {
      const outcome = await this.outgoing.fetchGuarded(
        asked.href,
        { headers: { Accept: "application/json", ...headers }, secretHeaders },
        LIMITS,
      );
      try {
        return this.responseOf(outcome, asked);
      } catch (error) {
        const pauseMs = pauseAfter(error, attempt, now());
        if (pauseMs === undefined) throw error;
        await wait(pauseMs);
      }
    }
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

/** @throws RemoteFailure if it was a refusal. */
async function toAnswer(answer: StepAnswer, asked: URL): Promise<ApiAnswer<unknown>> {
  if ("refusal" in answer) throw new RemoteFailure(answer.refusal, answer.message);
  return { value: await readJson(answer.text, asked), total: answer.total, next: answer.next };
}

/** Pauses before a request that met a failure of the server is repeated, in milliseconds. */
const PAUSES_MS = [100, 500];
/** A rate limit that ends so soon is waited out. */
const SHORT_LIMIT_MS = 2000;

/**
 * How long to wait before a failed request is repeated, in milliseconds; undefined if it is not.
 */
function pauseAfter(error: unknown, attempt: number, now: number): number | undefined {
  if (!(error instanceof RemoteFailure)) return undefined;
  const pauseMs = PAUSES_MS[attempt];
  if (error.kind === "server" || pauseMs === undefined) return pauseMs;
  const limitMs = (error.retryAt ?? Number.POSITIVE_INFINITY) - now;
  return error.kind === "rate_limited" && limitMs <= SHORT_LIMIT_MS ? limitMs : undefined;
}

/** The failure for the status of an answer; undefined for success. */
function failureOf(response: ForeignResponse, asked: URL, now: number): RemoteFailure | undefined {
  const { status } = response;
  if (status >= 200 && status < 300) return undefined;
  const message = `${nameOf(asked)} was answered with ${status}`;
  const retryAt = retryTimeOf(response, now);
  if (retryAt !== undefined) return new RemoteFailure("rate_limited", message, retryAt);
  if (status === 401 && asksForTwoFactors(response.headers)) {
    return new RemoteFailure("unauthorized", TWO_FACTORS_REQUIRED);
  }
  if (status === 401 || status === 403) return new RemoteFailure("unauthorized", message);
  if (status === 404 || status === 410) return new RemoteFailure("not_found", message);
  if (status >= 500) return new RemoteFailure("server", message);
  return new RemoteFailure(status >= 400 ? "refused" : "protocol", message);
}

function readText({ body }: ForeignResponse, asked: URL): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(body);
  } catch {
    throw new RemoteFailure("protocol", `${nameOf(asked)} is no JSON`);
  }
}

async function readJson(text: string, asked: URL): Promise<unknown> {
  try {
    return await parseJson(text);
  } catch {
    // A page of HTML, such as a sign-in or a proxy's.
    throw new RemoteFailure("protocol", `${nameOf(asked)} is no JSON`);
  }
}

function countOf(headers: Headers, name: string): number | undefined {
  const text = headers.get(name) ?? "";
  return /^\d{1,12}$/.test(text) ? Number(text) : undefined;
}

/** How messages name a request: without its query, which may hold much. */
const nameOf = ({ host, pathname }: URL): string => `GET ${host}${pathname}`;
