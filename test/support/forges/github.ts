import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { type GitHubProject, HERE, SAMPLE_NAME } from "./github-project.ts";
import { RateWindow, WINDOW_SECONDS } from "./rate-window.ts";
import { answerGitHub, type GitHubAnswer, one, pageOf } from "./github-answers.ts";

/**
 * How the stand-in behaves to requests for one owner's repositories: tests that share it take an
 * owner each. It is set by `PUT /_behaviour/{owner}`, which also empties the owner's journal.
 */
export interface GitHubBehaviour {
  /** Each such request is answered with `fault`, or with GitHub's page of a failure. */
  failEvery?: number;
  /** Requests that are answered until `PUT /_window/{owner}`. */
  perWindow?: number;
  fault?: { status: number; headers?: Record<string, string>; body?: string };
  /** How many requests are answered until the rate limit, which is never reset. */
  allowance?: number;
  /** The repository is private: without the token it is not found, and another one is refused. */
  token?: string;
  /** An account whose password wants a second factor. */
  password?: string;
  /** Lists name the next page by a text instead of its number, as GitHub does for long ones. */
  hasCursors?: boolean;
  /**
   * JSON instead of the project's, by the path below the repository; of a list the whole, which is
   * paged.
   */
  answers?: Record<string, unknown>;
  /** Replaces parts of the project. */
  project?: Partial<GitHubProject>;
  /** Commits that stand for those of the project. */
  oids?: Record<string, string>;
}

/** A request as `GET /_journal/{owner}` returns it. */
export interface GitHubRequest {
  path: string;
  status: number;
  authorization: string;
  accept: string;
  version: string;
  userAgent: string;
}

interface OwnerState {
  behaviour: GitHubBehaviour;
  journal: GitHubRequest[];
  window: RateWindow;
}

/** What answers that are not about a repository's API, such as git. */
type Fallback = (request: IncomingMessage, response: ServerResponse) => void;

export interface GitHubStandIn {
  /** As of a GitHub Enterprise Server: the API is below `/api/v3`. */
  readonly url: string;
  readonly close: () => void;
}

/**
 * Starts a stand-in for the REST API of a GitHub Enterprise Server, made from its public
 * documentation.
 *
 * It serves one project, under the name `app` of any owner. Assets are redirected to a server of
 * files, which refuses requests with credentials, as GitHub's does.
 *
 * @see https://docs.github.com/en/enterprise-server/rest
 */
export async function startGitHub(
  project: GitHubProject,
  fallback: Fallback = (_, response) => void response.writeHead(404).end(),
): Promise<GitHubStandIn> {
  const owners = new Map<string, OwnerState>();
  const stateOf = (owner: string): OwnerState => {
    const state = owners.get(owner) ?? {
      behaviour: {},
      journal: [],
      window: new RateWindow(),
    };
    owners.set(owner, state);
    return state;
  };

  const files = createServer((request, response) => {
    const id = Number(request.url?.slice(1));
    const isRefused = request.headers.authorization !== undefined;
    if (isRefused) response.statusCode = 400;
    response.end(isRefused ? "Only one auth mechanism allowed" : project.files[id]);
  });
  const api = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://stand-in");
    const control = /^\/_(behaviour|journal|window)\/([^/]+)$/.exec(url.pathname);
    if (control?.[1] === "window") {
      const { window, behaviour } = stateOf(control[2] ?? "");
      window.begin(behaviour.perWindow);
      return void response.end();
    }
    if (control) return void answerControl(request, response, stateOf(control[2] ?? ""));
    const path = /^\/api\/v3(\/.*)$/.exec(url.pathname)?.[1];
    if (path === undefined) return fallback(request, response);
    // Pages after the first one are below the repository's id, in which the stand-in has the owner.
    const match = /^\/(?:repos|repositories)\/([^/]+)\/(app|was-app)(?:\/(.*))?$/.exec(path);
    const owner = match?.[1] ?? "";
    const state = stateOf(owner);
    const { status, headers, body } = match
      ? answerOwner(
          request,
          url,
          match[2] ?? "",
          match[3] ?? "",
          { ...project, ...state.behaviour.project },
          state,
          urlOf(files),
        )
      : NOT_FOUND;
    state.journal.push({
      path: `${path}${url.search}`,
      status,
      authorization: request.headers.authorization ?? "",
      accept: request.headers.accept ?? "",
      version: String(request.headers["x-github-api-version"] ?? ""),
      userAgent: request.headers["user-agent"] ?? "",
    });
    const here = (text: string): string =>
      Object.entries(state.behaviour.oids ?? {}).reduce(
        (replaced, [from, to]) => replaced.replaceAll(from, to),
        text.replaceAll(HERE, urlOf(api)).replaceAll(SAMPLE_NAME, `${owner}/app`),
      );
    const shown = Object.entries(headers ?? {}).map(([name, value]) => [name, here(value)]);
    send(
      request,
      response,
      status,
      Object.fromEntries(shown) as Record<string, string>,
      here(body),
    );
  });
  await Promise.all([listen(files), listen(api)]);
  return { url: urlOf(api), close: () => [files, api].forEach(stop) };
}

const listen = (server: Server): Promise<void> =>
  new Promise((resolve) => void server.listen(0, "127.0.0.1", resolve));

const urlOf = (server: Server): string =>
  `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

function stop(server: Server): void {
  server.close();
  server.closeAllConnections();
}

async function answerControl(
  request: IncomingMessage,
  response: ServerResponse,
  state: OwnerState,
): Promise<void> {
  if (request.method === "PUT") {
    const pieces: Uint8Array[] = [];
    for await (const piece of request) pieces.push(piece as Uint8Array);
    state.behaviour = JSON.parse(Buffer.concat(pieces).toString()) as GitHubBehaviour;
    state.journal = [];
    state.window.begin(state.behaviour.perWindow);
  }
  response.end(JSON.stringify(state.journal));
}

const json = (status: number, message: string): GitHubAnswer => ({
  status,
  headers: { "Content-Type": "application/json; charset=utf-8" },
  body: JSON.stringify({ message, documentation_url: "https://docs.github.com/rest" }),
});
const NOT_FOUND = json(404, "Not Found");

/** GitHub's page for failures of its own, which is no JSON. */
const UNICORN = "<!DOCTYPE html>\n<title>Unicorn! &middot; GitHub</title>";

const ALLOWANCE = 5000;

/** What the owner's behaviour says first, and then the API. */
function answerOwner(
  request: IncomingMessage,
  url: URL,
  name: string,
  path: string,
  project: GitHubProject,
  { behaviour, journal, window }: OwnerState,
  filesUrl: string,
): GitHubAnswer {
  const { failEvery, fault, allowance = ALLOWANCE, answers = {}, hasCursors = false } = behaviour;
  const used = journal.length + 1;
  const rates = {
    "X-RateLimit-Limit": String(allowance),
    "X-RateLimit-Remaining": String(Math.max(0, allowance - used)),
    "X-RateLimit-Reset": String(RESET_SECONDS),
    "X-RateLimit-Resource": "core",
  };
  const withRates = (answer: GitHubAnswer): GitHubAnswer => ({
    ...answer,
    headers: { ...rates, ...answer.headers },
  });
  if (!request.headers["user-agent"])
    return json(403, "Request forbidden by administrative rules.");
  if (failEvery !== undefined && used % failEvery === 0) {
    const page = { status: 502, headers: { "Content-Type": "text/html" }, body: UNICORN };
    return withRates(fault ? { body: "", headers: {}, ...fault } : page);
  }
  if (used > allowance) {
    return withRates(json(403, "API rate limit exceeded for user ID 1."));
  }
  if (!window.admits()) {
    const limited = json(403, "You have exceeded your quota.");
    const reset = Math.ceil(Date.now() / 1000) + WINDOW_SECONDS;
    const headers = { "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": String(reset) };
    return withRates({ ...limited, headers: { ...limited.headers, ...headers } });
  }
  const refusal = refuse(request, behaviour);
  if (refusal) return withRates(refusal);
  const version = request.headers["x-github-api-version"] ?? "2022-11-28";
  if (version !== "2022-11-28")
    return json(400, `"${String(version)}" is not a supported API version.`);
  if (name === "was-app") {
    const Location = `${HERE}/api/v3/repositories/${SAMPLE_NAME}${path && `/${path}`}${url.search}`;
    return withRates({ ...json(301, "Moved Permanently"), headers: { Location } });
  }
  if (path in answers) {
    const value = answers[path];
    return withRates(
      Array.isArray(value) ? pageOf(value, path, url.searchParams, hasCursors) : one(value),
    );
  }
  const accept = request.headers.accept ?? "";
  const answer = answerGitHub(project, path, url.searchParams, { accept, filesUrl, hasCursors });
  return withRates(answer ?? NOT_FOUND);
}

/** When the allowance begins anew: in seconds since 1970. */
const RESET_SECONDS = Date.UTC(2024, 5, 1) / 1000;

/** What is said to wrong credentials, and to none for a private repository. */
function refuse(
  { headers: { authorization = "" } }: IncomingMessage,
  { token, password }: GitHubBehaviour,
): GitHubAnswer | undefined {
  const [scheme = "", value = ""] = authorization.split(" ");
  const given = /^basic$/i.test(scheme)
    ? Buffer.from(value, "base64")
        .toString()
        .replace(/^[^:]*:/, "")
    : value;
  if (password !== undefined && given === password) {
    const answer = json(401, "Must specify two-factor authentication OTP code.");
    return { ...answer, headers: { ...answer.headers, "X-GitHub-OTP": "required; app" } };
  }
  if (token === undefined || given === token) return undefined;
  return given === "" ? NOT_FOUND : json(401, "Bad credentials");
}

/** Sends an answer with its entity tag, or that it is not modified. */
function send(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  headers: Record<string, string>,
  body: string,
): void {
  const tag = `W/"${createHash("sha256").update(body).digest("hex")}"`;
  if (status === 200 && request.headers["if-none-match"] === tag) {
    return void response.writeHead(304, headers).end();
  }
  const tags = status === 200 ? { ETag: tag } : {};
  response.writeHead(status, { ...headers, ...tags }).end(body);
}
