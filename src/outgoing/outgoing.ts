import { streamOf } from "../lib/stream-of.ts";
import { checkEgress, type OutgoingRules } from "./check-egress.ts";
import type { NameResolver } from "./name-resolver.ts";
import {
  type Blocked,
  blocked,
  type ForeignResponse,
  type Outcome,
  type Unreached,
  unreached,
} from "./outcome.ts";
import { type IsSecret, readHeaders, secretNames } from "./outgoing-headers.ts";
import { readBody } from "./read-body.ts";
import { findLocation, type Hop, redirected } from "./redirect.ts";
import {
  type OpenOutcome,
  readStreamed,
  RequestClock,
  type StreamLimits,
} from "./streamed-response.ts";
import { parseTarget, type Target } from "./target.ts";

/** A request to another host. */
export interface OutgoingRequest {
  /** GET by default. */
  method?: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
  headers?: Readonly<Record<string, string>>;
  /** Not a stream, since a redirect may require sending it again. */
  body?: string | Uint8Array<ArrayBuffer>;
  /**
   * Headers to drop on a redirect to another host, besides those whose names mark them as secrets.
   */
  secretHeaders?: readonly string[];
}

/** A request whose response is read as a stream. */
export interface StreamedRequest extends Omit<OutgoingRequest, "body"> {
  /**
   * A stream is sent in chunks, as fast as the other host takes it. It can't be sent again, so no
   * redirect is followed.
   */
  body?: string | Uint8Array<ArrayBuffer> | AsyncGenerator<Uint8Array>;
}

export interface OutgoingLimits {
  /** For name resolution, redirects and the response's body together. */
  timeoutMs: number;
  /** Maximum size of the response's body, in bytes after decompression. */
  bodyBytesMax: number;
  /** With 0, a redirect is returned like any other response. */
  redirectsMax: number;
}

/** The client for all outgoing requests of the service. */
export class Outgoing {
  /** Requests sent so far, each redirect's included. */
  requestCount = 0;
  private readonly rules: OutgoingRules;
  private readonly resolver: NameResolver;
  private readonly userAgent: string;

  constructor(rules: OutgoingRules, resolver: NameResolver, userAgent: string) {
    this.rules = rules;
    this.resolver = resolver;
    this.userAgent = userAgent;
  }

  /**
   * Checks a URL without requesting it, for callers that are about to store it.
   *
   * @returns Undefined if the URL is allowed now. It is checked again on each request.
   */
  async check(url: string, timeoutMs: number): Promise<Blocked | Unreached | undefined> {
    const target = await this.checkTarget(url, undefined, AbortSignal.timeout(timeoutMs));
    return target.kind === "target" ? undefined : target;
  }

  /**
   * Sends a request to another host and follows its redirects, as far as the rules and limits
   * allow.
   *
   * Nothing that the other host does is thrown; it is reported in the outcome.
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
      return await Promise.race([
        expiry,
        this.fetchWhole(url, hop, limits, isSecret, abort.signal),
      ]);
    } finally {
      clearTimeout(timer);
      abort.abort();
    }
  }

  /**
   * Sends a request to another host as `fetchGuarded` does, and returns as soon as the response
   * begins.
   *
   * Nothing that the other host does is thrown; it is reported in the outcome. Only reading the
   * body throws.
   *
   * @throws What a streamed request body throws, if it ends the request.
   */
  async open(url: string, request: StreamedRequest, limits: StreamLimits): Promise<OpenOutcome> {
    const headers = readHeaders(request.headers ?? {}, this.userAgent);
    if (!(headers instanceof Headers)) return headers;
    const clock = new RequestClock(limits);
    const sent = sendable(request.body, clock);
    const hop: Hop = { method: request.method ?? "GET", headers, body: sent.body };
    const redirectsMax = sent.isStream ? 0 : limits.redirectsMax;
    const isSecret = secretNames(request.secretHeaders);
    let opened = false;
    try {
      const followed = this.follow(url, hop, redirectsMax, isSecret, clock.signal, () =>
        clock.restart(),
      );
      const outcome = await Promise.race([clock.expired, followed, sent.failed]);
      if (outcome.kind !== "response") return outcome;
      const { response, url: from } = outcome;
      opened = true;
      return {
        kind: "opened",
        status: response.status,
        headers: response.headers,
        url: from.href,
        body: readStreamed(response, limits.bodyBytesMax, clock),
        end: () => clock.end(),
      };
    } finally {
      if (opened) clock.pause();
      else {
        clock.end();
        sent.end();
      }
    }
  }

  private async fetchWhole(
    url: string,
    first: Hop,
    { bodyBytesMax, redirectsMax }: OutgoingLimits,
    isSecret: IsSecret,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const followed = await this.follow(url, first, redirectsMax, isSecret, signal);
    if (followed.kind !== "response") return followed;
    return readResponse(followed.response, followed.url, bodyBytesMax);
  }

  /** @param onHop Called after each redirect. */
  private async follow(
    url: string,
    first: Hop,
    redirectsMax: number,
    isSecret: IsSecret,
    signal: AbortSignal,
    onHop: () => void = () => {},
  ): Promise<Followed | Blocked | Unreached> {
    let hop = first;
    let target = await this.checkTarget(url, undefined, signal);
    for (let redirectCount = 0; ; redirectCount++) {
      if (target.kind !== "target") return target;
      const { url: from } = target;
      this.requestCount += 1;
      const response = await send(from, hop, signal);
      if (!response) return unreached(`${target.host} did not answer`);
      const location = redirectsMax > 0 ? findLocation(response) : undefined;
      if (location === undefined) return { kind: "response", response, url: from };

      await cancelBody(response);
      onHop();
      if (redirectCount === redirectsMax) return blocked(`more than ${redirectsMax} redirects`);
      target = await this.checkTarget(location, from, signal);
      if (target.kind === "target") {
        hop = redirected(hop, response.status, from, target.url, isSecret);
      }
    }
  }

  /** Parses and checks the URL of one hop. */
  private async checkTarget(
    text: string,
    base: URL | undefined,
    signal: AbortSignal,
  ): Promise<Target | Blocked | Unreached> {
    const target = parseTarget(text, base);
    if (target.kind === "blocked") return target;
    return (await checkEgress(target, this.rules, this.resolver, signal)) ?? target;
  }
}

/** The response at the end of all redirects. */
interface Followed {
  kind: "response";
  response: Response;
  url: URL;
}

/** @returns Undefined if there is no response: no connection, a TLS failure, or no HTTP. */
async function send(
  url: URL,
  { method, headers, body }: Hop,
  signal: AbortSignal,
): Promise<Response | undefined> {
  try {
    // oxlint-disable-next-line no-restricted-globals -- this is the guarded client
    return await fetch(url, { method, headers, body: body ?? null, redirect: "manual", signal });
  } catch {
    // The platform reports all of these with an error that has no code.
    return undefined;
  }
}

async function readResponse(response: Response, url: URL, bytesMax: number): Promise<Outcome> {
  const { status, headers } = response;
  try {
    const { bytes: body, isCut } = await readBody(response, bytesMax);
    const foreign: ForeignResponse = { status, headers, body, url: url.href };
    return { kind: isCut ? "too_large" : "answered", ...foreign };
  } catch {
    // The body is truncated, or does not match its Content-Encoding.
    return unreached("the answer broke off");
  }
}

/** Cancels the body of a redirect, which is not read. */
async function cancelBody({ body }: Response): Promise<void> {
  await body?.cancel().catch(() => undefined);
}

/** A request body as the platform takes it. */
interface Sendable {
  readonly body: Hop["body"];
  readonly isStream: boolean;
  /** Rejects with the error of a streamed body. */
  readonly failed: Promise<never>;
  /** Ends a streamed body that is not sent to its end. */
  end(): void;
}

/** Each piece that is taken of a streamed body restarts the clock. */
function sendable(given: StreamedRequest["body"], clock: RequestClock): Sendable {
  if (given === undefined || typeof given === "string" || given instanceof Uint8Array) {
    return { body: given, isStream: false, failed: new Promise(() => {}), end: () => {} };
  }
  let fail: (error: unknown) => void = () => {};
  const failed = new Promise<never>((_, reject) => (fail = reject));
  // Handled also where nobody races against it any more.
  failed.catch(() => undefined);
  async function* pieces(source: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      for await (const piece of source) {
        clock.restart();
        yield piece;
      }
    } catch (error) {
      fail(error);
      // Not thrown into the request, which the platform would report as an error that nobody
      // handles.
      clock.end();
      await new Promise(() => {});
    }
  }
  const body = streamOf(pieces(given), () => {});
  return { body, isStream: true, failed, end: () => void given.return(undefined) };
}
