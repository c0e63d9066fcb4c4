import { createServer, type Server } from "node:http";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { z } from "zod";

import { git } from "../../git/git.ts";
import { readCpuTime } from "../../support/process.ts";
import type { Resources } from "../../support/resources.ts";
import { openService, type Service } from "../../support/service.ts";
import type { Measured } from "./measured.ts";

const Line = z.object({
  event: z.enum(["request", "git:sent", "jobs"]),
  id: z.string().optional(),
  queue: z.string().optional(),
  d1Calls: z.number().default(0),
  d1RowsRead: z.number().default(0),
  d1RowsWritten: z.number().default(0),
  objectCalls: z.number().optional(),
  r2Calls: z.number().optional(),
});
type Line = z.infer<typeof Line>;

/** Requests of one kind in each pass. */
const REPEATS = 20;
const HOOKS = 20;
/** The log counts as quiet after this time without a line. */
const REST_MS = 700;
const PASSWORD = "measured-by-the-simulation";

type Forge = {
  service: Service;
  send: (method: string, path: string, json?: object) => Promise<void>;
  gitUrl: string;
  work: string;
  receiver: string;
};

/** A kind of request, with what it needs. */
type Kind = { name: string; run: (forge: Forge, at: number) => Promise<unknown> };

const REPOSITORY = "/repos/root/measured";
const get = (name: string, path: string): Kind => ({ name, run: ({ send }) => send("GET", path) });

const KINDS: Kind[] = [
  get("user", "/users/root"),
  get("repository", REPOSITORY),
  get("list", `${REPOSITORY}/issues?limit=50`),
  get("search", "/repos/search?q=measured&limit=30"),
  get("content", `${REPOSITORY}/contents/README.md`),
  get("commits", `${REPOSITORY}/commits?limit=20`),
  get("status", `${REPOSITORY}/commits/main/status`),
  get("notifications", "/notifications"),
  {
    name: "comment",
    run: ({ send }, at) =>
      send("POST", `${REPOSITORY}/issues/1/comments`, { body: `Comment ${at}` }),
  },
  {
    name: "issue",
    run: ({ send }, at) =>
      send("POST", `${REPOSITORY}/issues`, { title: `Issue ${at}`, body: "Text" }),
  },
  {
    name: "star",
    run: ({ send }, at) => send(at % 2 === 0 ? "PUT" : "DELETE", "/user/starred/root/measured"),
  },
  {
    name: "file",
    run: ({ send }, at) =>
      send("POST", `${REPOSITORY}/contents/file-${at}-${Date.now()}`, {
        content: btoa(`${at}`),
        // Not the branch that is pushed to.
        branch: "files",
      }),
  },
  {
    name: "creation",
    run: ({ send }, at) => send("POST", "/user/repos", { name: `created-${at}-${Date.now()}` }),
  },
  {
    name: "packageRead",
    run: ({ send }) => send("GET", "../packages/root/generic/measured/1.0.0/file"),
  },
  {
    name: "packagePublish",
    run: ({ send }, at) =>
      send("PUT", `../packages/root/generic/published/${Date.now()}-${at}/file`, {}),
  },
  { name: "lsRefs", run: ({ gitUrl, work }) => git(work, ["ls-remote", gitUrl]) },
  {
    name: "clone",
    run: ({ gitUrl, work }, at) =>
      git(work, ["clone", "--quiet", "--no-checkout", gitUrl, `clone-${at}-${Date.now()}`]),
  },
  {
    name: "fetch",
    run: async ({ gitUrl, work }, at) => {
      await commitAndPush(join(work, "pushing"), `fetched ${at}`);
      await git(join(work, "fetching"), [
        "fetch",
        "--quiet",
        gitUrl,
        "main:refs/remotes/origin/main",
      ]);
    },
  },
  { name: "push", run: ({ work }, at) => commitAndPush(join(work, "pushing"), `pushed ${at}`) },
];

async function commitAndPush(directory: string, text: string): Promise<void> {
  writeFileSync(join(directory, "file"), `${text} ${Math.random()}\n`);
  await git(directory, ["add", "--all"]);
  await git(directory, ["commit", "--quiet", "--message", text]);
  await git(directory, ["push", "--quiet", "origin", "main"]);
}

/**
 * Measures what requests of each kind use: their D1 calls, rounds and rows, calls of the object and
 * the bucket, and the CPU time of workerd, which includes the local simulators of the bindings. Of
 * a kind that changes something, the CPU time includes the dispatch of its event.
 */
export async function measureRequests(resources: Resources): Promise<Measured[]> {
  const used = await passOver(resources, "counted", true);
  const timed = await passOver(resources, "timed", false);
  // Each fetch needs a push before it.
  for (const { counts } of [used, timed]) subtract(counts, "fetch", "push");
  recordPush(used.counts);
  return [...used.counts].flatMap(([kind, counts]) =>
    Object.entries({ ...counts, cpuMs: timed.counts.get(kind)?.["cpuMs"] ?? 0 }).map(
      ([name, value]) => ({
        name: `${kind}.${name}`,
        value: Math.max(0, value),
        unit: name === "cpuMs" ? "ms/request" : "calls or rows/request",
      }),
    ),
  );
}

type Counts = Record<string, number>;

function subtract(all: Map<string, Counts>, from: string, other: string): void {
  const [counts, less] = [all.get(from), all.get(other)];
  if (!counts || !less) return;
  for (const name of Object.keys(counts)) counts[name] = (counts[name] ?? 0) - (less[name] ?? 0);
}

/**
 * A push is recorded after its log line, as a file that the API creates is recorded before its own.
 */
function recordPush(counts: Map<string, Counts>): void {
  const [push, file] = [counts.get("push"), counts.get("file")];
  if (!push || !file) return;
  push["d1Calls"] = (push["d1Calls"] ?? 0) + 1;
  push["rowsWritten"] = file["rowsWritten"] ?? 0;
}

async function passOver(
  { directory, track, release }: Resources,
  name: string,
  countsRows: boolean,
): Promise<{ counts: Map<string, Counts> }> {
  let lines: Line[] = [];
  let loggedAt = 0;
  const service = await track(
    openService(join(directory, name), {
      administrator: { name: "root", password: PASSWORD, email: "root@example.com" },
      vars: {
        LOG_D1_ROWS: String(countsRows),
        ALLOWED_HOST_LIST: "external, loopback",
        WEBHOOKS_MAX: "100",
      },
      onLog: ({ message }) => {
        const line = Line.safeParse(message.startsWith("{") ? JSON.parse(message) : undefined);
        if (!line.success) return;
        lines.push(line.data);
        loggedAt = performance.now();
      },
    }),
  );
  const receiver = await track(openReceiver());
  const forge = await openForge(service, join(directory, `${name}-work`), receiver.origin);
  const rest = async (): Promise<void> => {
    loggedAt = performance.now();
    while (performance.now() - loggedAt < REST_MS) await pause(50);
  };
  const use = async (repeats: number, run: (at: number) => Promise<unknown>) => {
    await run(-1);
    await rest();
    lines = [];
    const from = readCpuTime(service.pid()).own;
    for (let at = 0; at < repeats; at++) await run(at);
    await rest();
    return { cpuMs: (1000 * (readCpuTime(service.pid()).own - from)) / repeats };
  };

  const counts = new Map<string, Counts>();
  for (const { name: kind, run } of KINDS) {
    const { cpuMs } = await use(REPEATS, (at) => run(forge, at));
    const requests = withSent(lines);
    counts.set(kind, {
      ...countsOf(requests, REPEATS),
      requests: requests.length / REPEATS,
      cpuMs,
    });
    if (kind === "comment") counts.set("dispatch", jobCounts(lines, "edgeforge-events", REPEATS));
  }
  await makeHooks(forge);
  const { cpuMs } = await use(5, (at) =>
    forge.send("POST", `${REPOSITORY}/issues/1/comments`, { body: `Comment ${at}` }),
  );
  const deliveries = jobCounts(lines, "edgeforge-deliveries", 5 * HOOKS);
  const comment = counts.get("comment")?.["cpuMs"] ?? 0;
  counts.set("delivery", { ...deliveries, cpuMs: (cpuMs - comment) / HOOKS });
  await release(receiver);
  await release(service);
  return { counts };
}

/**
 * The lines of requests; streamed answers log their calls of the object and the bucket once they
 * are sent.
 */
function withSent(lines: Line[]): Line[] {
  const sent = new Map(
    lines.flatMap((line) => (line.event === "git:sent" ? [[line.id, line]] : [])),
  );
  return lines.flatMap((line) => {
    if (line.event !== "request") return [];
    const { objectCalls, r2Calls } = sent.get(line.id) ?? line;
    return [{ ...line, objectCalls, r2Calls }];
  });
}

function countsOf(lines: Line[], times: number): Counts {
  const mean = (of: (line: Line) => number | undefined): number =>
    lines.reduce((sum, line) => sum + (of(line) ?? 0), 0) / times;
  return {
    d1Calls: mean(({ d1Calls }) => d1Calls),
    rowsRead: mean(({ d1RowsRead }) => d1RowsRead),
    rowsWritten: mean(({ d1RowsWritten }) => d1RowsWritten),
    objectCalls: mean(({ objectCalls }) => objectCalls),
    r2Calls: mean(({ r2Calls }) => r2Calls),
  };
}

const jobCounts = (lines: Line[], queue: string, times: number): Counts =>
  countsOf(
    lines.filter((line) => line.event === "jobs" && line.queue === queue),
    times,
  );

async function openForge(service: Service, work: string, receiver: string): Promise<Forge> {
  mkdirSync(work);
  const api = new URL("/api/v1/", service.origin);
  const request = async (authorization: string, method: string, path: string, json?: object) => {
    const url = path.startsWith("../")
      ? new URL(`/api/${path.slice(3)}`, api)
      : new URL(path.slice(1), api);
    const answer = await fetch(url, {
      method,
      headers: { authorization, "content-type": "application/json" },
      body: json === undefined ? null : JSON.stringify(json),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text.slice(0, 300)}`);
    return text;
  };
  const basic = `Basic ${Buffer.from(`root:${PASSWORD}`).toString("base64")}`;
  const token = await request(basic, "POST", "/users/root/tokens", {
    name: "measured",
    scopes: ["all"],
  });
  const { sha1 } = z.object({ sha1: z.string() }).parse(JSON.parse(token));
  const send = async (method: string, path: string, json?: object): Promise<void> => {
    await request(`token ${sha1}`, method, path, json);
  };
  const gitUrl = `http://root:${sha1}@${service.origin.host}/root/measured.git`;
  await send("POST", "/user/repos", { name: "measured", auto_init: true, default_branch: "main" });
  for (let issue = 0; issue < 50; issue++)
    await send("POST", `${REPOSITORY}/issues`, { title: `Issue ${issue}`, body: "Text" });
  await send("PUT", "../packages/root/generic/measured/1.0.0/file", {});
  await send("POST", `${REPOSITORY}/branches`, { new_branch_name: "files" });
  await git(work, ["clone", "--quiet", gitUrl, "pushing"]);
  await git(work, ["clone", "--quiet", gitUrl, "fetching"]);
  return { service, send, gitUrl, work, receiver };
}

async function makeHooks({ send, receiver }: Forge): Promise<void> {
  const hook = { type: "gitea", active: true, events: ["issue_comment"] };
  for (let at = 0; at < HOOKS; at++)
    await send("POST", `${REPOSITORY}/hooks`, {
      ...hook,
      config: { url: `${receiver}/${at}`, content_type: "json" },
    });
}

async function openReceiver(): Promise<{ origin: string; close: () => Promise<void> }> {
  const server: Server = createServer((request, response) => {
    request.resume().once("end", () => response.writeHead(204).end());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  };
  return { origin: `http://127.0.0.1:${port}`, close };
}
