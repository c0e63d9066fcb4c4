import { evaluateConditions, versionHeaders } from "../lib/conditional-request.ts";
import { formatHex } from "../lib/hex.ts";
import { log } from "../lib/log.ts";
import type { Writes, WriteScope } from "../lib/writes.ts";
import { Kept } from "../storage/kept.ts";
import { StorageUsage } from "../storage/storage-usage.ts";

/** Bytes of all kept answers. */
const ALL_BYTES_MAX = 8 * 1024 * 1024;
/** Bytes of the body of one. */
const BODY_BYTES_MAX = 256 * 1024;

/**
 * Headers with which a request is not answered from what is kept: it names its caller or what it
 * has seen, or asks for a part. No other header changes an answer, but those in the key.
 */
const EXCLUDING = [
  "Authorization",
  "Cookie",
  "Sudo",
  "X-Gitea-OTP",
  "X-D1-Bookmark",
  "Range",
  "If-Match",
  "If-Modified-Since",
  "If-Unmodified-Since",
] as const;

/** Paths of the API of Gitea, of registries, and of pages: not of runners, assets and health. */
const isOfPublic = (path: string): boolean =>
  /^\/(?:api\/v1|api\/packages|v2)\//.test(path) ||
  !/^\/(?:api|v2|twirp|mcp|login|user|-)(?:\/|$)/.test(path);

/** An answer, as it is sent again. */
interface KeptAnswer {
  readonly route: string;
  readonly tag: string;
  readonly isTagWeak: boolean;
  /** All headers but those of the one request. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body: ArrayBuffer;
  readonly downloadOf: number | undefined;
}

/** What the service says of an answer that it has made. */
interface Made {
  /** The pattern of the route, for the log. */
  readonly route: string;
  readonly reads: WriteScope;
  /** The version of a package of which it counted a download. */
  readonly downloadOf: number | undefined;
}

/** An answer that is sent again. */
interface SentAgain {
  readonly response: Response;
  /** The version of a package of which this is a download. */
  readonly downloadOf: number | undefined;
}

/**
 * Answers to anonymous readers, which are sent again for seconds, until the isolate writes anything
 * that they may follow from.
 */
export class KeptAnswers {
  readonly #kept: Kept<KeptAnswer>;

  constructor(writes: Writes) {
    this.#kept = new Kept(ALL_BYTES_MAX, writes);
  }

  /** Answers a request from what is kept, and logs it. */
  find(request: Request): SentAgain | undefined {
    const key = keyOf(request);
    const answer = key === undefined ? undefined : this.#kept.get(key, Date.now());
    if (!answer) return undefined;
    const id = crypto.randomUUID();
    const { status } = evaluateConditions(request, answer);
    log("request", {
      id,
      method: request.method,
      route: answer.route,
      status,
      answer: "kept",
      ...NO_WORK,
    });
    const isSent = status === 200 && request.method === "GET";
    return {
      response: toResponse(answer, request, status, id),
      downloadOf: isSent ? answer.downloadOf : undefined,
    };
  }

  /**
   * Begins to answer a request. @returns A function that keeps the answer, if it is one for
   * everybody, and gives it an `ETag`; undefined for a request whose answer is not kept.
   */
  begin(
    request: Request,
    now: number,
  ): ((response: Response, id: string, made: Made) => Promise<Response>) | undefined {
    const key = request.method === "GET" ? keyOf(request) : undefined;
    if (key === undefined) return undefined;
    const keep = this.#kept.begin(now);
    return async (response, id, { route, reads, downloadOf }) => {
      if (!isForAll(response, route)) return response;
      const body = await response.arrayBuffer();
      if (body.byteLength > BODY_BYTES_MAX) return new Response(body, response);
      const answer = { route, downloadOf, body, ...(await describe(response.headers, body)) };
      keep(key, answer, { bytes: body.byteLength + 2 * key.length + HEADERS_BYTES, reads });
      return toResponse(answer, request, evaluateConditions(request, answer).status, id);
    };
  }
}

/** What the log says of the work for a kept answer. */
const NO_WORK = {
  durationMs: 0,
  d1Calls: 0,
  d1Rounds: 0,
  d1RowsRead: 0,
  d1RowsWritten: 0,
  sqlBuilds: 0,
  ...new StorageUsage().counts(),
};

/** Approximate bytes of an answer's headers. */
const HEADERS_BYTES = 2048;

/** What decides about the answer to an anonymous reader; undefined for any other request. */
function keyOf({ method, url, headers }: Request): string | undefined {
  if (method !== "GET" && method !== "HEAD") return undefined;
  if (EXCLUDING.some((name) => headers.has(name))) return undefined;
  const pathFrom = url.indexOf("/", url.indexOf("//") + 2);
  if (pathFrom < 0 || !isOfPublic(url.slice(pathFrom))) return undefined;
  return `${headers.get("accept") ?? ""}\n${headers.get("origin") ?? ""}\n${url}`;
}

/** Whether a response is the same for everybody, whole, and short as far as that is known. */
function isForAll({ status, headers }: Response, route: string): boolean {
  const length = headers.get("Content-Length");
  return (
    status === 200 &&
    !headers.has("Set-Cookie") &&
    !headers.get("Cache-Control")?.includes("no-store") &&
    (isDocument(headers) || (length !== null && OF_REGISTRY.test(route))) &&
    Number(length) <= BODY_BYTES_MAX
  );
}

const isDocument = (headers: Headers): boolean =>
  /^(?:application\/json|text\/html)\b/.test(headers.get("Content-Type") ?? "") &&
  !headers.has("Content-Disposition");

/** Routes whose files are kept, too: of all others, each download is counted by itself. */
const OF_REGISTRY = /^\/(?:api\/packages|v2)\//;

async function describe(headers: Headers, body: ArrayBuffer) {
  const [, weak, given] = /^(W\/)?"(.*)"$/.exec(headers.get("ETag") ?? "") ?? [];
  const tag = given ?? formatHex(new Uint8Array(await crypto.subtle.digest("SHA-1", body)));
  const isTagWeak = given === undefined || weak !== undefined;
  const own = [...headers].filter(([name]) => name !== "x-request-id");
  const versioned = given === undefined ? Object.entries(versionHeaders({ tag, isTagWeak })) : [];
  return { tag, isTagWeak, headers: [...own, ...versioned] };
}

/** Headers of a body, which 304 has not. */
const OF_BODY: ReadonlySet<string> = new Set(["content-type", "content-length"]);

function toResponse(
  { headers, body }: KeptAnswer,
  { method }: Request,
  status: number,
  id: string,
): Response {
  const isWhole = status === 200;
  const own = isWhole ? headers : headers.filter(([name]) => !OF_BODY.has(name));
  return new Response(isWhole && method !== "HEAD" ? body : null, {
    status,
    headers: [...own, ["X-Request-Id", id]] as [string, string][],
  });
}
