import { checkEgress, type OutgoingRules } from "./check-egress.ts";
import type { NameResolver } from "./name-resolver.ts";
import {
  type Blocked,
  blocked,
  type ForeignAnswer,
  type Outcome,
  type Unreached,
  unreached,
} from "./outcome.ts";
import { type IsSecret, readHeaders, secretNames } from "./outgoing-headers.ts";
import { readBody } from "./read-body.ts";
import { findLocation, type Hop, redirected } from "./redirect.ts";
import { parseTarget, type Target } from "./target.ts";

/** What is asked of another host. */
export interface OutgoingRequest {
  /** GET unless it says otherwise. */
  method?: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
  headers?: Readonly<Record<string, string>>;
  /** At hand as a whole: a redirect may want it again. */
  body?: string | Uint8Array<ArrayBuffer>;
  /** Headers that another host may not read, besides those that are secrets by name. */
  secretHeaders?: readonly string[];
}

export interface OutgoingLimits {
  /** For all of it: names, redirects, the body of the answer. */
  timeoutMs: number;
  /** Bytes of the answer's body that are read, inflated. */
  bodyBytesMax: number;
  /** With 0 a redirect is an answer like any other. */
  redirectsMax: number;
}

/** The one way by which requests leave the service. */
export class Outgoing {
  private readonly rules: OutgoingRules;
  private readonly resolver: NameResolver;
  private readonly userAgent: string;

  constructor(rules: OutgoingRules, resolver: NameResolver, userAgent: string) {
    this.rules = rules;
    this.resolver = resolver;
    this.userAgent = userAgent;
  }

  /**
   * Judges an address without asking for it: for whoever is about to keep it.
   *
   * @returns Undefined if nothing is against it now. It is judged again whenever it is asked for.
   */
  async check(url: string, timeoutMs: number): Promise<Blocked | Unreached | undefined> {
    const refusal = await this.aim(url, undefined, AbortSignal.timeout(timeoutMs));
    return refusal.kind === "target" ? undefined : refusal;
  }

  /**
   * Asks another host, if it may be asked, and follows where it sends on to, if it may be followed.
   *
   * @throws Nothing that the other host does; it is an outcome.
   */
  async fetchGuarded(
    url: string,
    request: OutgoingRequest,
    limits: OutgoingLimits,
  ): Promise<Outcome> {
    const headers = readHeaders(request.headers ?? {}, this.userAgent);
    if (!(headers instanceof Headers)) return headers;
    const hop: Hop = { method: request.method ?? "GET", headers, body: request.body };

    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const expiry = new Promise<Outcome>((resolve) => {
      timer = setTimeout(() => resolve({ kind: "timeout" }), limits.timeoutMs);
    });
    try {
      const isSecret = secretNames(request.secretHeaders);
      return await Promise.race([expiry, this.follow(url, hop, limits, isSecret, abort.signal)]);
    } finally {
      clearTimeout(timer);
      abort.abort();
    }
  }

  private async follow(
    url: string,
    first: Hop,
    { bodyBytesMax, redirectsMax }: OutgoingLimits,
    isSecret: IsSecret,
    signal: AbortSignal,
  ): Promise<Outcome> {
    let hop = first;
    let target = await this.aim(url, undefined, signal);
    for (let redirectCount = 0; ; redirectCount++) {
      if (target.kind !== "target") return target;
      const { url: from } = target;
      const response = await send(from, hop, signal);
      if (!response) return unreached(`${target.host} did not answer`);
      const location = redirectsMax > 0 ? findLocation(response) : undefined;
      if (location === undefined) return readAnswer(response, from, bodyBytesMax);

      await dismiss(response);
      if (redirectCount === redirectsMax) return blocked(`more than ${redirectsMax} redirects`);
      target = await this.aim(location, from, signal);
      if (target.kind === "target") {
        hop = redirected(hop, response.status, from, target.url, isSecret);
      }
    }
  }

  /** Reads and judges the address of one hop. */
  private async aim(
    text: string,
    base: URL | undefined,
    signal: AbortSignal,
  ): Promise<Target | Blocked | Unreached> {
    const target = parseTarget(text, base);
    if (target.kind === "blocked") return target;
    return (await checkEgress(target, this.rules, this.resolver, signal)) ?? target;
  }
}

/** @returns Undefined if there is no answer: no connection, no TLS that holds, no HTTP. */
async function send(
  url: URL,
  { method, headers, body }: Hop,
  signal: AbortSignal,
): Promise<Response | undefined> {
  try {
    // oxlint-disable-next-line no-restricted-globals -- this is the guarded client
    return await fetch(url, { method, headers, body: body ?? null, redirect: "manual", signal });
  } catch {
    // The platform tells of all of these by an error without a kind.
    return undefined;
  }
}

async function readAnswer(response: Response, url: URL, bytesMax: number): Promise<Outcome> {
  const { status, headers } = response;
  try {
    const { bytes: body, isCut } = await readBody(response, bytesMax);
    const answer: ForeignAnswer = { status, headers, body, url: url.href };
    return { kind: isCut ? "too_large" : "answered", ...answer };
  } catch {
    // Cut off, or not compressed as it says.
    return unreached("the answer broke off");
  }
}

/** Nobody reads the body of a redirect. */
async function dismiss({ body }: Response): Promise<void> {
  await body?.cancel().catch(() => undefined);
}
