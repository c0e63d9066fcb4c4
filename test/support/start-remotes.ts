import { type ChildProcessByStdio, execFileSync, spawn } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";

import type { TestProject } from "vitest/node";

import { answerBatch, answerFile, type LfsFiles, setLfsFiles } from "./fake-lfs-server.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Two origins with the same git repositories, served by `git http-backend`. */
    remotes: [string, string];
  }
}

/** A request that a remote got. */
export interface RemoteRequest {
  method: string;
  /** With the query. */
  path: string;
  headers: Record<string, string>;
  /** The body, one character per byte, cut off after 20,000. */
  body: string;
}

/** An answer that a test prepares, for a repository that lies. */
export interface ScriptedAnswer {
  status?: number;
  headers?: Record<string, string>;
  /** In base64. */
  body?: string;
  /** What follows the body: its end by default. */
  ending?: "hang" | "break";
  /** What follows the body without end, in base64. */
  repeated?: string;
}

const ENVIRONMENT = {
  PATH: process.env["PATH"] ?? "",
  HOME: "/nonexistent",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_TERMINAL_PROMPT: "0",
  GIT_AUTHOR_NAME: "A U Thor",
  GIT_AUTHOR_EMAIL: "author@example.com",
  GIT_AUTHOR_DATE: "1700000000 +0000",
  GIT_COMMITTER_NAME: "C O Mitter",
  GIT_COMMITTER_EMAIL: "committer@example.com",
  GIT_COMMITTER_DATE: "1700000000 +0000",
  LC_ALL: "C.UTF-8",
};

const BODY_SHOWN_MAX = 20_000;

/** Longer than any test takes. */
const KEEP_ALIVE_MS = 30 * 60_000;

const BATCH_PATH = "/info/lfs/objects/batch";

const journals = new Map<string, RemoteRequest[]>();
const scripts = new Map<string, Record<string, ScriptedAnswer>>();

/**
 * Starts servers of git repositories, for tests of the service as a client. The first part of a
 * path chooses how they behave (`DOORS`), the second is the repository. `/control/…` is for the
 * tests.
 */
export default async function setup(project: TestProject): Promise<() => void> {
  const root = mkdtempSync(join(tmpdir(), "edgeforge-remotes-"));
  const exec = execFileSync("git", ["--exec-path"], { encoding: "utf8", env: ENVIRONMENT });
  const program = join(exec.trim(), "git-http-backend");
  const origins: string[] = [];
  const servers = [1, 2].map(() =>
    createServer((request, response) => {
      void answer({ root, program, origins }, request, response).catch((error: unknown) => {
        response.destroy(error as Error);
      });
    }),
  );
  for (const server of servers) {
    // On a busy machine a client would send its next request on a connection that is being closed,
    // and get no answer.
    server.keepAliveTimeout = KEEP_ALIVE_MS;
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    origins.push(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  }
  project.provide("remotes", origins as [string, string]);
  return () => {
    for (const server of servers) {
      server.close();
      server.closeAllConnections();
    }
    rmSync(root, { recursive: true, force: true });
  };
}

interface Place {
  readonly root: string;
  readonly program: string;
  readonly origins: readonly string[];
}

async function answer(
  place: Place,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? "/", "http://remote");
  const [, door = "", name = "", ...rest] = url.pathname.split("/");
  const pieces: Uint8Array[] = [];
  for await (const piece of request) pieces.push(piece as Uint8Array);
  const body = Buffer.concat(pieces);
  if (door === "control") return control(place, name, rest.join("/"), body, response);

  const journal = journals.get(name) ?? [];
  journals.set(name, journal);
  const { method = "", headers } = request;
  journal.push({
    method,
    path: request.url ?? "",
    headers: headers as Record<string, string>,
    body: body.toString("latin1", 0, BODY_SHOWN_MAX),
  });
  if (door === "lfs") return answerFile(name, rest[0] ?? "", headers, response);
  const here = `/${[name, ...rest].join("/")}${url.search}`;
  switch (door) {
    case "git":
      if (here.endsWith(BATCH_PATH)) return answerBatch(name, body, place.origins, response);
      return backend(place, request, here, body, headers["git-protocol"]?.toString(), response);
    case "v1":
      return backend(place, request, here, body, "version=1", response);
    case "v0":
      return backend(place, request, here, body, undefined, response);
    case "auth": {
      const wanted = `Basic ${Buffer.from("user:s3cret, püre").toString("base64")}`;
      if (headers.authorization !== wanted) {
        const given = headers.authorization ?? "";
        return void response
          .writeHead(401, { "Content-Type": "text/plain", "WWW-Authenticate": "Basic" })
          .end(`no such user: ${given} ${Buffer.from(given.slice(6), "base64").toString()}`);
      }
      if (here.endsWith(BATCH_PATH)) return answerBatch(name, body, place.origins, response);
      return backend(place, request, here, body, headers["git-protocol"]?.toString(), response);
    }
    case "stale": {
      // Before it lists its refs it has a branch elsewhere for a moment.
      const isList = rest.at(-1) === "refs";
      const run = (oid: string) =>
        execFileSync("git", ["update-ref", "refs/heads/main", oid], {
          cwd: join(place.root, name),
          env: ENVIRONMENT,
        });
      if (isList) run("main~1");
      response.once("close", () => isList && run("topic"));
      return backend(place, request, here, body, headers["git-protocol"]?.toString(), response);
    }
    case "moved":
      return void response.writeHead(302, { Location: `/auth${here}` }).end();
    case "away":
      return void response.writeHead(301, { Location: `${place.origins[1]}/git${here}` }).end();
    case "elsewhere":
      return void response.writeHead(301, { Location: `/git${here.split("?")[0]}?x` }).end();
    case "scripted":
      return scripted(scripts.get(name) ?? {}, url, body, response);
    default:
      return void response.writeHead(404).end();
  }
}

/** Runs git in a repository, or reads and writes what is known of it. */
async function control(
  { root }: Place,
  name: string,
  verb: string,
  body: Buffer,
  response: ServerResponse,
): Promise<void> {
  if (verb === "journal") {
    response.end(JSON.stringify(journals.get(name) ?? []));
    journals.delete(name);
    return;
  }
  if (verb === "script") {
    scripts.set(name, JSON.parse(body.toString()) as Record<string, ScriptedAnswer>);
    return void response.end();
  }
  if (verb === "lfs") {
    setLfsFiles(name, JSON.parse(body.toString()) as LfsFiles);
    return void response.end("null");
  }
  const { args, input } = JSON.parse(body.toString()) as { args: string[]; input?: string };
  const isNew = args[0] === "init" || args[0] === "clone";
  const child = spawnWith(root, Buffer.from(input ?? "", "base64"), "git", args, {
    cwd: isNew ? root : join(root, name),
    env: ENVIRONMENT,
  });
  let [output, errors] = ["", ""];
  child.stdout.setEncoding("latin1").on("data", (text: string) => (output += text));
  child.stderr.setEncoding("latin1").on("data", (text: string) => (errors += text));
  const code = await new Promise((resolve) => child.on("close", resolve));
  response.end(JSON.stringify({ code, output, errors }));
}

function scripted(
  script: Record<string, ScriptedAnswer>,
  url: URL,
  body: Buffer,
  response: ServerResponse,
): void {
  const command = /command=([a-z-]+)/.exec(body.toString("latin1", 0, 200))?.[1];
  const step = command ?? url.pathname.split("/").at(-1) ?? "";
  const {
    status = 200,
    headers = {},
    body: bytes = "",
    ending,
    repeated,
  } = script[step] ?? {
    status: 404,
  };
  response.writeHead(status, headers);
  const content = Buffer.from(bytes, "base64");
  if (ending === "hang") return void response.write(content);
  if (ending === "break") {
    response.write(content);
    return void setTimeout(() => response.destroy(), 50);
  }
  if (repeated === undefined) return void response.end(content);
  response.write(content);
  const piece = Buffer.from(repeated, "base64");
  const write = (): void => {
    while (!response.destroyed && response.write(piece));
  };
  response.on("drain", write);
  write();
}

let inputs = 0;

/**
 * Starts a program with its input in a file: it need not read it all, as it would have to from a
 * pipe.
 */
function spawnWith(
  root: string,
  input: Uint8Array,
  program: string,
  args: readonly string[],
  options: { cwd?: string; env: Record<string, string> },
): ChildProcessByStdio<null, Readable, Readable> {
  const path = join(root, `input-${inputs++}`);
  writeFileSync(path, input);
  const file = openSync(path, "r");
  try {
    const stdio: [number, "pipe", "pipe"] = [file, "pipe", "pipe"];
    return spawn(program, args, { ...options, stdio }) as ChildProcessByStdio<
      null,
      Readable,
      Readable
    >;
  } finally {
    closeSync(file);
    rmSync(path);
  }
}

/** @see git-http-backend(1), "ENVIRONMENT". */
function backend(
  { root, program }: Place,
  { method, headers }: IncomingMessage,
  path: string,
  body: Buffer,
  protocol: string | undefined,
  response: ServerResponse,
): void {
  const [pathInfo = "", query = ""] = path.split("?");
  const child = spawnWith(root, body, program, [], {
    env: {
      ...ENVIRONMENT,
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: "1",
      ...(protocol !== undefined && { GIT_PROTOCOL: protocol }),
      REQUEST_METHOD: method ?? "",
      PATH_INFO: decodeURIComponent(pathInfo),
      QUERY_STRING: query,
      CONTENT_TYPE: headers["content-type"] ?? "",
      CONTENT_LENGTH: String(body.length),
      REMOTE_ADDR: "127.0.0.1",
    },
  });
  child.stderr.resume();
  response.once("close", () => child.kill());
  let head = Buffer.alloc(0);
  const onHead = (chunk: Buffer): void => {
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf("\r\n\r\n");
    if (end < 0) return;
    child.stdout.off("data", onHead);
    let status = 200;
    for (const line of head.toString("latin1", 0, end).split("\r\n")) {
      const [name = "", value = ""] = line.split(/:\s*(.*)/s);
      if (name.toLowerCase() === "status") status = Number.parseInt(value, 10);
      else response.setHeader(name, value);
    }
    response.writeHead(status).write(head.subarray(end + 4));
    child.stdout.pipe(response);
  };
  child.stdout.on("data", onHead);
  child.stdout.once("end", () => {
    if (!response.headersSent) response.writeHead(500).end();
  });
}
