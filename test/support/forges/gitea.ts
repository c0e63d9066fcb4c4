import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { answerGitea, type GiteaAnswer, json, list, NOT_FOUND } from "./gitea-answers.ts";
import { type GiteaProject, HERE, SAMPLE_NAME } from "./gitea-sample.ts";
import { type ManyItems, withMany } from "./gitea-many.ts";
import { answerGogs } from "./gogs-answers.ts";
import { RateWindow, WINDOW_SECONDS } from "./rate-window.ts";

/**
 * How the stand-in behaves below one path: tests that share it take a path each, as if it were a
 * server of its own. It is set by `PUT /_behaviour/{path}`, which also empties the path's journal.
 */
export interface GiteaBehaviour {
  /** Has Gogs' API. */
  isGogs?: boolean;
  /** The setting `MAX_RESPONSE_ITEMS`; 50 by default. */
  itemsMax?: number;
  /** Whether the settings are shown to nobody. */
  hidesSettings?: boolean;
  /**
   * Each such request is answered with `fault`, or with the page of a proxy whose server is down.
   */
  failEvery?: number;
  /** Requests that are answered until `PUT /_window/{path}`. */
  perWindow?: number;
  fault?: { status: number; headers?: Record<string, string>; body?: string };
  /** The repository is private: only this token reads it, or this password of the user `ada`. */
  token?: string;
  password?: string;
  /** The owner is a user, who has no labels. */
  isUser?: boolean;
  /** What the server believes to be its own address. */
  rootUrl?: string;
  /** Replaces answers: the path below the repository, and the JSON. */
  answers?: Record<string, unknown>;
  /** Adds many issues and comments to the project. */
  many?: ManyItems;
  /** Replaces parts of the project. */
  project?: Partial<GiteaProject>;
  /** Replaces whole responses by the path below the repository. */
  raw?: Record<string, RawAnswer>;
  /** Commits that stand for those of the project. */
  oids?: Record<string, string>;
}

/** What a hostile server says. */
export interface RawAnswer {
  status?: number;
  headers?: Record<string, string>;
  body?: string;
  /** Of which the body is made, so that a test need not send it. */
  repeated?: { text: string; count: number; end?: string };
  /** The body is repeated without end. */
  isEndless?: boolean;
}

/** A request as `GET /_journal/{path}` returns it. */
export interface GiteaJournalEntry {
  path: string;
  status: number;
  authorization: string;
}

interface InstanceState {
  behaviour: GiteaBehaviour;
  journal: GiteaJournalEntry[];
  /** The project with the many items of the behaviour, once they were asked for. */
  enlarged?: GiteaProject | undefined;
  window: RateWindow;
}

/** What answers requests that are not about a repository's API, such as git. */
type Fallback = (request: IncomingMessage, response: ServerResponse) => void;

export interface GiteaStandIn {
  readonly url: string;
  readonly close: () => void;
}

const ITEMS_MAX = 50;

/**
 * Starts a stand-in for Gitea, or Gogs, made from their public documentation: at its root, and
 * below each path of one part that begins with `at-`. It serves one project; its old name
 * `gardeners/was-app` is redirected.
 *
 * @see https://docs.gitea.com/api
 */
export async function startGitea(
  project: GiteaProject,
  fallback: Fallback = (_, response) => void response.writeHead(404).end(),
): Promise<GiteaStandIn> {
  const instances = new Map<string, InstanceState>();
  const stateOf = (instance: string): InstanceState => {
    const state = instances.get(instance) ?? {
      behaviour: {},
      journal: [],
      window: new RateWindow(),
    };
    instances.set(instance, state);
    return state;
  };
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://stand-in");
    const control = /^\/_(behaviour|journal|window)\/(at-[\w-]+)$/.exec(url.pathname);
    if (control?.[1] === "window") {
      const { window, behaviour } = stateOf(control[2] ?? "");
      window.begin(behaviour.perWindow);
      return void response.end();
    }
    if (control) return void answerControl(request, response, stateOf(control[2] ?? ""));
    const match = /^(?:\/(at-[\w-]+))?(\/(?:api\/v1|attachments)\/(.*))$/.exec(url.pathname);
    if (!match) return fallback(request, response);
    const [, instance = "", ownPath = "", path = ""] = match;
    if (ownPath.startsWith("/attachments/")) {
      const file = project.files[path];
      return void response.writeHead(file === undefined ? 404 : 200).end(file);
    }
    const state = stateOf(instance);
    url.pathname = ownPath;
    const raw = state.behaviour.raw?.[/^repos\/gardeners\/app(?:\/(.*))?$/.exec(path)?.[1] ?? ""];
    if (raw && path.startsWith("repos/")) {
      state.journal.push({
        path: `/${path}${url.search}`,
        status: raw.status ?? 200,
        authorization: "",
      });
      return void sendRaw(response, raw);
    }
    const { status, headers, body } = answerInstance(
      request,
      url,
      path,
      { ...project, ...state.behaviour.project },
      state,
    );
    const { authorization = "" } = request.headers;
    state.journal.push({ path: `/${path}${url.search}`, status, authorization });
    const root =
      state.behaviour.rootUrl ?? `http://${request.headers.host}${instance && `/${instance}`}`;
    const here = (text: string): string =>
      Object.entries(state.behaviour.oids ?? {}).reduce(
        (replaced, [from, to]) => replaced.replaceAll(from, to),
        text.replaceAll(HERE, root),
      );
    const shown = Object.entries(headers).map(([name, value]) => [name, here(value)] as const);
    response.writeHead(status, Object.fromEntries(shown)).end(here(body));
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function sendRaw(
  response: ServerResponse,
  { status = 200, headers = {}, body = "", repeated, isEndless = false }: RawAnswer,
): Promise<void> {
  response.setMaxListeners(0);
  response.writeHead(status, { "Content-Type": "application/json", ...headers });
  const { text = "", count = 0, end = "" } = repeated ?? {};
  response.write(`${body}${text.repeat(count)}${end}`);
  if (isEndless) await writeEndlessly(response);
  response.end();
}

async function writeEndlessly(response: ServerResponse): Promise<void> {
  while (!response.destroyed) {
    const isTaken = response.write(" ".repeat(65_536));
    if (!isTaken) {
      await new Promise<void>((resolve) => {
        response.once("drain", resolve);
        response.once("close", resolve);
      });
    }
  }
}

async function answerControl(
  request: IncomingMessage,
  response: ServerResponse,
  state: InstanceState,
): Promise<void> {
  if (request.method === "PUT") {
    const pieces: Uint8Array[] = [];
    for await (const piece of request) pieces.push(piece as Uint8Array);
    state.behaviour = JSON.parse(Buffer.concat(pieces).toString()) as GiteaBehaviour;
    state.journal = [];
    state.enlarged = undefined;
    state.window.begin(state.behaviour.perWindow);
  }
  response.end(JSON.stringify(state.journal));
}

/** What a proxy says whose server is down. */
const BAD_GATEWAY = "<html><head><title>502 Bad Gateway</title></head></html>";

/** What the behaviour says first, and then the API. */
function answerInstance(
  request: IncomingMessage,
  url: URL,
  path: string,
  sample: GiteaProject,
  state: InstanceState,
): GiteaAnswer {
  const { behaviour, journal, window } = state;
  const project = behaviour.many ? (state.enlarged ??= withMany(sample, behaviour.many)) : sample;
  const { failEvery, fault, itemsMax = ITEMS_MAX, isGogs = false, answers = {} } = behaviour;
  if (failEvery !== undefined && (journal.length + 1) % failEvery === 0) {
    const page = { status: 502, headers: { "Content-Type": "text/html" }, body: BAD_GATEWAY };
    return fault ? { body: "", headers: {}, ...fault } : page;
  }
  if (!window.admits()) {
    const headers = { "Retry-After": String(WINDOW_SECONDS) };
    return { status: 429, headers, body: "Too Many Requests\n" };
  }
  const access = accessOf(request, behaviour);
  if (access === "refused") {
    return json(
      { message: "invalid username, password or token", url: `${HERE}/api/swagger` },
      401,
    );
  }
  if (path === "settings/api" && !isGogs && !behaviour.hidesSettings) {
    return json({ max_response_items: itemsMax, default_paging_num: 30 });
  }
  if (path === `orgs/${OWNER}/labels` && !isGogs && !behaviour.isUser) {
    return list({ url, itemsMax }, project.ownerLabels, { isWholeWithoutPage: true });
  }
  const [, name, rest = ""] = /^repos\/gardeners\/(app|was-app)(?:\/(.*))?$/.exec(path) ?? [];
  if (name === undefined || access === "none") return NOT_FOUND;
  if (name === "was-app") {
    const Location = `${HERE}/api/v1/repos/${SAMPLE_NAME}${rest && `/${rest}`}${url.search}`;
    return { ...json({ message: "moved" }, 307), headers: { Location } };
  }
  if (rest in answers) return json(answers[rest]);
  const isWriter = access === "writer";
  const answer = isGogs
    ? answerGogs(project, rest, url)
    : answerGitea(project, { path: rest, url, itemsMax, isWriter });
  return answer ?? NOT_FOUND;
}

const OWNER = "gardeners";

/** The permission of the caller. Wrong credentials are refused even where none are required. */
function accessOf(
  { headers: { authorization = "" } }: IncomingMessage,
  { token, password }: GiteaBehaviour,
): "refused" | "none" | "reader" | "writer" {
  const isPrivate = token !== undefined || password !== undefined;
  if (authorization === "") return isPrivate ? "none" : "reader";
  const basic = `Basic ${Buffer.from(`ada:${password}`).toString("base64")}`;
  const isRight =
    (token !== undefined && authorization === `token ${token}`) ||
    (password !== undefined && authorization === basic);
  return isRight ? "writer" : "refused";
}
