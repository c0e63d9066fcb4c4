import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import type { GitLabProjectData, Json } from "./gitlab-data.ts";
import { RateWindow, WINDOW_SECONDS } from "./rate-window.ts";
import { type Listing, page, select } from "./gitlab-lists.ts";

/** What goes wrong for a token: each `every`th answer is the next one of `answers`. */
export interface Faults {
  every: number;
  /** A status, `html` for a page in place of JSON, `break` for a connection that ends. */
  answers: string[];
}

/** A stand-in for a GitLab server. */
export interface GitLabServer {
  readonly origin: string;
  readonly projects: readonly GitLabProjectData[];
  /** Changes what goes wrong for a token; "" for requests without one. */
  fail(token: string, faults: Faults | undefined): void;
  /** Paths with queries that were asked for with a token. */
  requestsOf(token: string): readonly string[];
  close(): void;
}

/** The number of items up to which a list has its total: 10,000 at GitLab. */
const COUNTED_MAX = 60;

/** Answers of the server: a status with JSON, or text. */
interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

const NOT_FOUND: Answer = { status: 404, body: { message: "404 Not found" } };
const UNAUTHORIZED: Answer = { status: 401, body: { message: "401 Unauthorized" } };
const LIMITED: Answer = {
  status: 429,
  body: "Retry later\n",
  headers: { "Retry-After": String(WINDOW_SECONDS), "RateLimit-Remaining": "0" },
};
const FORBIDDEN: Answer = { status: 403, body: { message: "403 Forbidden" } };

/**
 * Starts a server that answers like GitLab's REST API, version 4, for the paths that an import
 * reads.
 *
 * Tokens begin with `glpat-`; other ones are wrong. Those that begin with `glpat-stranger` see what
 * is public. Lists have pages of 20, of 100 at most, with `Link` and `X-` headers; long ones have
 * no total.
 *
 * `POST /-/faults?token=` and `GET /-/journal?token=` are `fail` and `requestsOf` for tests outside
 * this process; `POST /-/window?token=&size=` begins a window of time in which so many requests are
 * answered. `POST /-/oids?token=` sets commits that stand for those of the projects.
 *
 * @param open The projects, given the origin of the server.
 * @param serveGit Answers requests for git.
 * @see https://docs.gitlab.com/api/rest/
 */
export async function startForge(
  open: (origin: string) => GitLabProjectData[],
  serveGit: (request: IncomingMessage, response: ServerResponse) => void = (_, response) =>
    void response.writeHead(404).end(),
): Promise<GitLabServer> {
  const faultsOf = new Map<string, Faults & { count: number }>();
  const journals = new Map<string, string[]>();
  const windows = new Map<string, RateWindow>();
  const oidsOf = new Map<string, Record<string, string>>();
  let projects: GitLabProjectData[] = [];
  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  projects = open(origin);

  const fail = (token: string, faults: Faults | undefined): void => {
    if (faults) faultsOf.set(token, { ...faults, count: 0 });
    else faultsOf.delete(token);
  };
  const requestsOf = (token: string): readonly string[] => journals.get(token) ?? [];

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", origin);
    const asked = url.searchParams.get("token") ?? "";
    if (url.pathname === "/-/faults") {
      const pieces: Uint8Array[] = [];
      for await (const piece of request) pieces.push(piece as Uint8Array);
      fail(asked, JSON.parse(Buffer.concat(pieces).toString()) ?? undefined);
      return void response.end("{}");
    }
    if (url.pathname === "/-/window") {
      const window = windows.get(asked) ?? new RateWindow();
      windows.set(asked, window);
      const size = url.searchParams.get("size");
      window.begin(size === null ? undefined : Number(size));
      return void response.end("{}");
    }
    if (url.pathname === "/-/oids") {
      const pieces: Uint8Array[] = [];
      for await (const piece of request) pieces.push(piece as Uint8Array);
      oidsOf.set(asked, JSON.parse(Buffer.concat(pieces).toString()) as Record<string, string>);
      return void response.end("{}");
    }
    if (url.pathname.endsWith("/info/refs")) return serveGit(request, response);
    if (url.pathname === "/-/journal") return void response.end(JSON.stringify(requestsOf(asked)));

    const token = tokenOf(request);
    journals.set(token, [...requestsOf(token), request.url ?? ""]);
    const fault = nextFault(faultsOf.get(token));
    if (fault === "break") return void request.socket.destroy();
    const isLimited = fault === undefined && !(windows.get(token)?.admits() ?? true);
    const result = isLimited ? LIMITED : fault === undefined ? route(url, token) : faulty(fault);
    send(request, response, replaceOids(result, oidsOf.get(token) ?? {}));
  }

  function route(url: URL, token: string): Answer {
    if (token !== "" && !token.startsWith("glpat-")) return UNAUTHORIZED;
    const isMember = token !== "" && !token.startsWith("glpat-stranger");
    const file = projects.find(({ files }) => url.pathname in files);
    if (file) {
      const mayRead = isMember || file.project.visibility === "public";
      return mayRead ? { status: 200, body: file.files[url.pathname] } : NOT_FOUND;
    }
    // The path of a project is one part of the path, with its slashes encoded.
    const [, id = "", rest = ""] =
      /^\/api\/v4\/projects\/([^/]+)(?:\/(.*))?$/.exec(url.pathname) ?? [];
    const name = decodeURIComponent(id);
    const isNamed = ({ project }: GitLabProjectData): boolean =>
      name === `${project.id}` || name === project.path_with_namespace;
    const found = projects.find(isNamed);
    const moved = projects.find(({ formerPaths }) => formerPaths.includes(name));
    if (moved) {
      const Location = `${origin}/api/v4/projects/${moved.project.id}/${rest}${url.search}`;
      return {
        status: 301,
        body: "This resource has been moved permanently",
        headers: { Location },
      };
    }
    const fork = projects.flatMap(({ forks }) => forks).find((each) => name === `${each.id}`);
    if (fork && rest === "") return { status: 200, body: fork };
    if (!found || !(isMember || found.project.visibility === "public")) {
      return { status: 404, body: { message: "404 Project Not Found" } };
    }
    return answer(found, rest, url, isMember);
  }

  return {
    origin,
    get projects() {
      return projects;
    },
    fail,
    requestsOf,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function tokenOf({ headers }: IncomingMessage): string {
  const bearer = /^Bearer (.+)$/.exec(headers.authorization ?? "")?.[1];
  return bearer ?? (headers["private-token"] as string | undefined) ?? "";
}

function replaceOids(result: Answer, oids: Readonly<Record<string, string>>): Answer {
  const names = Object.entries(oids);
  if (names.length === 0 || typeof result.body === "string") return result;
  const text = names.reduce(
    (replaced, [from, to]) => replaced.replaceAll(from, to),
    JSON.stringify(result.body),
  );
  return { ...result, body: JSON.parse(text) as unknown };
}

function nextFault(faults: (Faults & { count: number }) | undefined): string | undefined {
  if (!faults) return undefined;
  faults.count++;
  if (faults.count % faults.every !== 0) return undefined;
  return faults.answers[(faults.count / faults.every - 1) % faults.answers.length];
}

function faulty(fault: string): Answer {
  if (fault === "html") return { status: 200, body: "<!DOCTYPE html><title>Sign in</title>" };
  if (fault === "429") {
    const headers = { "Retry-After": "30", "RateLimit-Remaining": "0" };
    return { status: 429, body: "Retry later\n", headers };
  }
  const html = "<html><head><title>GitLab is not responding</title></head></html>";
  return { status: Number(fault), body: html };
}

/** What a project answers below its path in the API. */
function answer(data: GitLabProjectData, rest: string, url: URL, isMember: boolean): Answer {
  const { project } = data;
  const listing: Listing = { url, isMember };
  const [kind = "", iid = "", part = "", id = "", last = ""] = rest.split("/");
  if (rest === "") return { status: 200, body: isMember ? project : publicOf(project) };
  if (kind === "labels") return page(data.labels, listing);
  if (kind === "milestones") return page(select.milestones(data.milestones, url), listing);
  if (kind === "releases" && iid === "") return page(select.releases(data.releases, url), listing);
  if (kind !== "issues" && kind !== "merge_requests") return NOT_FOUND;

  const isIssue = kind === "issues";
  if (project[`${kind}_access_level`] === "disabled") return isIssue ? NOT_FOUND : FORBIDDEN;
  const all = isIssue ? data.issues : data.mergeRequests;
  const visible = all.filter((each) => isMember || each["confidential"] !== true);
  if (iid === "") return page(select.issuables(visible, url), listing, COUNTED_MAX);
  const item = visible.find((each) => `${each.iid}` === iid);
  if (!item) return NOT_FOUND;
  if (part === "") return { status: 200, body: { ...item, labels: select.names(item) } };

  const discussions = data.discussions[item.iid] ?? [];
  const notes = isIssue ? (data.notes[item.iid] ?? []) : discussions.flatMap((each) => each.notes);
  const shown = notes.filter((note) => isMember || note["internal"] !== true);
  if (part === "notes" && id === "") return page(select.notes(shown, url), listing);
  if (part === "discussions" && !isIssue) return page(discussions, listing);
  if (part === "award_emoji" || (part === "notes" && last === "award_emoji")) {
    const about = part === "notes" ? `${kind}/${iid}/notes/${id}` : `${kind}/${iid}`;
    const exists = part === "award_emoji" || shown.some((note) => String(note["id"]) === id);
    return exists ? page(data.awards[about] ?? [], listing) : NOT_FOUND;
  }
  if (part === "reviewers" && !isIssue) return page(data.reviewers[item.iid] ?? [], listing);
  if (part === "approvals" && !isIssue) {
    const none = { approved: false, approved_by: [] };
    return isMember ? { status: 200, body: data.approvals[item.iid] ?? none } : UNAUTHORIZED;
  }
  return NOT_FOUND;
}

/** A project as those see it who are no members: without its settings. */
function publicOf(project: Json): Json {
  const hidden = /_access_level$|^archived$|^visibility$/;
  return Object.fromEntries(Object.entries(project).filter(([name]) => !hidden.test(name)));
}

function send(request: IncomingMessage, response: ServerResponse, result: Answer): void {
  const isText = typeof result.body === "string";
  const body = typeof result.body === "string" ? result.body : JSON.stringify(result.body);
  const tag = `W/"${createHash("sha256").update(body).digest("hex").slice(0, 32)}"`;
  const isKnown = result.status === 200 && request.headers["if-none-match"] === tag;
  response
    .writeHead(isKnown ? 304 : result.status, {
      "Content-Type": isText ? "text/html" : "application/json",
      "RateLimit-Limit": "2000",
      "RateLimit-Observed": "1",
      "RateLimit-Remaining": "1999",
      "RateLimit-Reset": `${Math.ceil(Date.now() / 60_000) * 60}`,
      ETag: tag,
      ...result.headers,
    })
    .end(isKnown ? "" : body);
}
