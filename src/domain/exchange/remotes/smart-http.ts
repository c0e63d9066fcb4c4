import { decodeText, readByteText } from "../../../git/byte-text.ts";
import { GitError } from "../../../git/error.ts";
import { joinBytes } from "../../../git/wire/pkt-line.ts";
import type { ServiceName } from "../../../git/wire/advertisement.ts";
import { ServerRefusal } from "../../../git/wire/server-refusal.ts";
import type { Outgoing, StreamedRequest } from "../../../outgoing/outgoing.ts";
import { canSeeSecrets } from "../../../outgoing/redirect.ts";
import { ResponseFailure, type StreamedResponse } from "../../../outgoing/streamed-response.ts";
import { formatAuthorization, redact, type RemoteAddress } from "./remote-address.ts";
import { RemoteFailure, type RemoteFailureKind } from "../../../outgoing/remote-failure.ts";

/** Bounds of each request to a remote. */
export interface RemoteLimits {
  /** How long nothing may arrive, in milliseconds. */
  readonly idleMs: number;
  /** For one request and its answer, also while it is worked on here, in milliseconds. */
  readonly totalMs: number;
  /** Maximum size of the list of all refs, in bytes. */
  readonly refsBytesMax: number;
  /** Maximum size of a pack, in bytes. */
  readonly packBytesMax: number;
}

/** As git's `http.maxRedirects` for the first request; later ones follow none. */
const REDIRECTS_MAX = 10;

/** Bytes of an error's text that are shown. */
const ERROR_BYTES_MAX = 2048;

/** Characters of a message that are kept. */
const MESSAGE_LENGTH_MAX = 500;

/** Longest wait that a remote may ask for, in milliseconds. */
const RETRY_MS_MAX = 24 * 60 * 60 * 1000;

/**
 * The requests of smart HTTP to one remote.
 *
 * Only the first request follows redirects, and where it ends the later ones begin, as with git's
 * `http.followRedirects=initial`. SECURITY: on another host they have no credentials.
 *
 * @see gitprotocol-http(5).
 */
export class SmartHttp {
  /** Requests sent so far. */
  requestCount = 0;
  private readonly outgoing: Outgoing;
  private readonly address: RemoteAddress;
  private readonly limits: RemoteLimits;
  /** Where requests go by now. */
  private baseUrl: string;

  constructor(outgoing: Outgoing, address: RemoteAddress, limits: RemoteLimits) {
    this.outgoing = outgoing;
    this.address = address;
    this.limits = limits;
    this.baseUrl = address.url;
  }

  /**
   * Requests what a service of the remote has and can.
   *
   * @returns The whole advertisement.
   * @throws RemoteFailure
   */
  async advertise(service: ServiceName): Promise<Uint8Array> {
    const path = `/info/refs?service=${service}`;
    const headers = { "Git-Protocol": "version=2", "Cache-Control": "no-cache" };
    const response = await this.send(
      `${this.baseUrl}${path}`,
      { headers },
      { bodyBytesMax: this.limits.refsBytesMax, redirectsMax: REDIRECTS_MAX },
    );
    this.requireType(response, `${service}-advertisement`);
    if (!response.url.endsWith(path)) {
      response.end();
      throw new RemoteFailure(
        "protocol",
        "the remote redirects to an address that is no repository",
      );
    }
    this.baseUrl = response.url.slice(0, -path.length);
    return this.readAll(response);
  }

  /**
   * Sends a request to a service of the remote.
   *
   * @param version      Of the protocol.
   * @param bodyBytesMax Maximum size of the answer.
   * @throws RemoteFailure
   */
  async post(
    service: ServiceName,
    version: 0 | 1 | 2,
    body: Uint8Array | AsyncGenerator<Uint8Array>,
    bodyBytesMax: number,
  ): Promise<StreamedResponse> {
    const headers = {
      "Content-Type": `application/x-${service}-request`,
      Accept: `application/x-${service}-result`,
      ...(version > 0 && { "Git-Protocol": `version=${version}` }),
    };
    const sent = body as Uint8Array<ArrayBuffer> | AsyncGenerator<Uint8Array>;
    const response = await this.send(
      `${this.baseUrl}/${service}`,
      { method: "POST", headers, body: sent },
      { bodyBytesMax, redirectsMax: 0 },
    );
    this.requireType(response, `${service}-result`);
    return response;
  }

  /** Reads the whole answer. @throws RemoteFailure */
  async readAll(response: StreamedResponse): Promise<Uint8Array> {
    const pieces: Uint8Array[] = [];
    try {
      for await (const piece of response.body) pieces.push(piece);
    } catch (error) {
      throw this.toFailure(error);
    }
    return joinBytes(pieces);
  }

  /**
   * An error of reading what the remote sent as a failure of the remote; any other error unchanged.
   */
  toFailure(error: unknown): unknown {
    if (error instanceof ResponseFailure) {
      const kind = error.kind === "network" ? "unreachable" : error.kind;
      return new RemoteFailure(kind, error.message);
    }
    if (error instanceof ServerRefusal)
      return new RemoteFailure("refused", this.shown(error.message));
    if (error instanceof GitError) {
      const kind = error.code === "limit" ? "too_large" : "protocol";
      return new RemoteFailure(kind, this.shown(error.message));
    }
    return error;
  }

  /** A text that a remote may have a part in, as it may be shown. */
  shown(text: string): string {
    return redact(text, this.address).slice(0, MESSAGE_LENGTH_MAX).toWellFormed();
  }

  private async send(
    url: string,
    request: StreamedRequest,
    bounds: { bodyBytesMax: number; redirectsMax: number },
  ): Promise<StreamedResponse> {
    const { idleMs, totalMs } = this.limits;
    const authorization = canSeeSecrets(new URL(this.address.url), new URL(url))
      ? formatAuthorization(this.address)
      : undefined;
    const headers = { ...request.headers, ...(authorization && { Authorization: authorization }) };
    this.requestCount++;
    const outcome = await this.outgoing.open(
      url,
      { ...request, headers },
      { idleMs, totalMs, ...bounds },
    );
    switch (outcome.kind) {
      case "blocked":
        throw new RemoteFailure("blocked", this.shown(outcome.reason));
      case "network":
        throw new RemoteFailure("unreachable", this.shown(outcome.reason));
      case "timeout":
        throw new RemoteFailure("timeout", "the remote did not answer in time");
      case "opened":
        if (outcome.status !== 200) throw await this.refusalOf(outcome);
        return outcome;
      default:
        return outcome satisfies never;
    }
  }

  /** The failure for a status other than 200. */
  private async refusalOf(response: StreamedResponse): Promise<RemoteFailure> {
    const { status, headers } = response;
    const text = await this.readError(response);
    const retryAt = findRetryAt(headers, Date.now());
    const isLimited = status === 429 || (status === 403 && retryAt !== undefined);
    const kind = isLimited ? "rate_limited" : kindOfStatus(status);
    const words = this.shown(`${STATUS_WORDS[kind] ?? "the remote answers"} (${status})${text}`);
    return new RemoteFailure(kind, words, retryAt);
  }

  /** The beginning of an error's text, if it is for people to read. */
  private async readError({ headers, body, end }: StreamedResponse): Promise<string> {
    const isText = /^text\/plain\b/i.test(headers.get("Content-Type") ?? "");
    let text = "";
    try {
      if (isText) {
        for await (const piece of body) {
          text += decodeText(readByteText(piece, 0, Math.min(piece.length, ERROR_BYTES_MAX)));
          if (text.length > ERROR_BYTES_MAX) break;
        }
      }
    } catch (error) {
      if (!(error instanceof ResponseFailure)) throw error;
      // The failure has the status at least.
    } finally {
      end();
    }
    const words = text.replaceAll(/[\p{Cc}\p{Bidi_Control}\s]+/gu, " ").trim();
    return words === "" ? "" : `: ${words}`;
  }

  private requireType({ headers, end }: StreamedResponse, type: string): void {
    const given = (headers.get("Content-Type") ?? "").split(";")[0]?.trim().toLowerCase();
    if (given === `application/x-${type}`) return;
    end();
    throw new RemoteFailure(
      "protocol",
      "there is no git repository, or a server without smart HTTP",
    );
  }
}

const STATUS_WORDS: Partial<Record<RemoteFailureKind, string>> = {
  unauthorized: "authentication failed",
  not_found: "there is no repository",
  rate_limited: "the remote limits requests",
  too_large: "the remote finds this too large",
  server: "the remote failed",
};

function kindOfStatus(status: number): RemoteFailureKind {
  if (status === 401 || status === 403 || status === 407) return "unauthorized";
  if (status === 404 || status === 410 || status === 451) return "not_found";
  if (status === 413) return "too_large";
  return status >= 500 ? "server" : "protocol";
}

/**
 * When a remote wants to be asked again, in milliseconds since 1970, by any of the headers that
 * forges send. At most a day from now.
 *
 * @see RFC 9110, section 10.2.3; the documentation of GitHub's and GitLab's rate limits.
 */
function findRetryAt(headers: Headers, now: number): number | undefined {
  const after = headers.get("Retry-After");
  const left = headers.get("X-RateLimit-Remaining") ?? headers.get("RateLimit-Remaining");
  const reset = headers.get("X-RateLimit-Reset") ?? headers.get("RateLimit-Reset");
  let at: number | undefined;
  if (after !== null && /^\d{1,9}$/.test(after)) at = now + Number(after) * 1000;
  else if (after !== null && !Number.isNaN(Date.parse(after))) at = Date.parse(after);
  else if (left === "0" && reset !== null && /^\d{1,12}$/.test(reset)) at = Number(reset) * 1000;
  return at === undefined ? undefined : Math.min(Math.max(at, now), now + RETRY_MS_MAX);
}
