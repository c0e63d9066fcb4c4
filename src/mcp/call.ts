import type { Actor } from "../auth/actor.ts";
import type { Ctx } from "../context.ts";
import type { IncomingRequest } from "../entrance/door.ts";
import { admitAudience } from "../entrance/request-audience.ts";
import { Failure, invalid } from "../lib/failure.ts";

/** Answers a request to the service, as if it came from outside. */
export type CallService = (request: Request) => Response | Promise<Response>;

/** A call of a tool, a resource or a prompt. */
export interface McpCall {
  readonly actor: Actor;
  /** The request as it came in, for tools that read what no operation of the API has. */
  readonly incoming: IncomingRequest;
  /** The repository that the caller's token is bound to, as `owner/name`, where it is but one. */
  readonly boundTo: string | undefined;
  readonly api: Api;
}

/** The caller of a request. */
export interface McpCaller extends Omit<McpCall, "actor"> {
  readonly ctx: Ctx;
  /** Whether the caller's token is bound to repositories. */
  readonly isBound: boolean;
  /** How the client names itself, where its protocol does not say it in each request. */
  readonly client: string;
  readonly requestId: string;
}

/** A path of the API, whose parts are encoded. */
export type ApiPath = string & { readonly of: "api" };

/**
 * Writes a path below `/api/v1`: at`/repos/${owner}/${name}`. The names of a list stand between
 * slashes.
 *
 * @throws Failure `invalid` for `.` and `..`, which are no names.
 */
export const at = (
  texts: TemplateStringsArray,
  ...values: readonly (string | number | readonly string[])[]
): ApiPath => {
  const encoded = values.map((value) =>
    typeof value === "object" ? value.map(encodeName).join("/") : encodeName(value),
  );
  return String.raw({ raw: texts }, ...encoded) as ApiPath;
};

/** SECURITY: a name of dots would lead a tool to any other address of this service. */
function encodeName(name: string | number): string {
  if (name === "." || name === "..") throw invalid("names and paths can't have a part . or ..");
  return encodeURIComponent(name);
}

type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** An answer of the API. */
interface ApiAnswer<Body> {
  readonly body: Body;
  /** The total of a list. */
  readonly total: number | undefined;
  /** Whether a list has another page. */
  readonly hasMore: boolean;
}

/** A refusal of the API, whose words are for the caller. */
class ApiRefusal extends Failure {
  readonly status: number;

  constructor(status: number, message: string) {
    super(status === 401 ? "unauthenticated" : "invalid", message);
    this.status = status;
  }
}

/** Headers of the caller's request that decide who the caller is, and where they are. */
const PASSED_ON = ["authorization", "x-gitea-otp", "user-agent"];

/**
 * Operations of the API, called with the caller's credential: each asks who may do what, as it
 * does for a request from outside, so that no tool can do more.
 */
export class Api {
  readonly #call: CallService;
  readonly #url: string;
  readonly #headers: Headers;
  #hasWritten = false;

  /** @param addressHeader The header in which a proxy states the caller's address; "" for none. */
  constructor(call: CallService, request: Request, addressHeader: string) {
    this.#call = call;
    this.#url = new URL(request.url).origin;
    this.#headers = new Headers();
    for (const name of [...PASSED_ON, addressHeader]) {
      const value = name && request.headers.get(name);
      if (value) this.#headers.set(name, value);
    }
    // An agent reads what it has just written.
    this.#headers.set("x-d1-bookmark", "first-primary");
  }

  /** Whether an operation has changed something. */
  get hasWritten(): boolean {
    return this.#hasWritten;
  }

  get<Body>(path: ApiPath, query: Query = {}): Promise<ApiAnswer<Body>> {
    return this.#send("GET", path, query);
  }

  post<Body>(path: ApiPath, body: object): Promise<ApiAnswer<Body>> {
    return this.#send("POST", path, {}, body);
  }

  put<Body>(path: ApiPath, body: object, query: Query = {}): Promise<ApiAnswer<Body>> {
    return this.#send("PUT", path, query, body);
  }

  patch<Body>(path: ApiPath, body: object): Promise<ApiAnswer<Body>> {
    return this.#send("PATCH", path, {}, body);
  }

  delete(path: ApiPath): Promise<ApiAnswer<undefined>> {
    return this.#send("DELETE", path, {});
  }

  /** The bytes of a file, or of the part of it that `range` names. */
  async file(path: ApiPath, query: Query = {}, range?: string): Promise<Response> {
    return this.#fetch("GET", path, query, undefined, range === undefined ? {} : { range });
  }

  async #send<Body>(
    method: string,
    path: ApiPath,
    query: Query,
    body?: object,
  ): Promise<ApiAnswer<Body>> {
    const response = await this.#fetch(method, path, query, body);
    const text = await response.text();
    const total = response.headers.get("x-total-count");
    return {
      body: (text === "" ? undefined : JSON.parse(text)) as Body,
      total: total === null ? undefined : Number(total),
      hasMore: response.headers.get("link")?.includes('rel="next"') ?? false,
    };
  }

  async #fetch(
    method: string,
    path: ApiPath,
    query: Query,
    body?: object,
    more: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    const url = new URL(`/api/v1${path}`, this.#url);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    const headers = new Headers(this.#headers);
    for (const [name, value] of Object.entries(more)) headers.set(name, value);
    if (body) headers.set("content-type", "application/json");
    const sent = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    let response = await this.#call(admitAudience(new Request(url, sent), "mcp"));
    // Of a repository with a new name.
    const location = response.headers.get("location");
    if (response.status >= 300 && response.status < 400 && location !== null) {
      const { pathname, search } = new URL(location, url);
      response = await this.#call(
        admitAudience(new Request(new URL(pathname + search, url), sent), "mcp"),
      );
    }
    if (!response.ok) throw await toRefusal(response);
    if (method !== "GET") this.#hasWritten = true;
    return response;
  }
}

async function toRefusal(response: Response): Promise<ApiRefusal> {
  const { status, headers } = response;
  const text = await response.text();
  let message = text;
  try {
    message = (JSON.parse(text) as { message?: string }).message ?? text;
  } catch {
    // The text says why.
  }
  if (message === "") {
    message =
      status === 404 ? (headers.get("x-edgeforge-reason") ?? "not-found") : `status ${status}`;
  }
  return new ApiRefusal(status, message);
}
