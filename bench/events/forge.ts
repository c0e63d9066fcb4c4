import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";

import { z } from "zod";

import { readCpuTime } from "../support/process.ts";
import { openService } from "../support/service.ts";
import { nowMs } from "./clock.ts";

/**
 * The service, with the operations of the cases. Functions rather than methods, so that callers can
 * pass them on.
 */
export type EventForge = {
  /** Creates a repository with one commit. */
  makeRepository: (name: string) => Promise<void>;
  /** Creates a hook of the repository for pushes. */
  makeHook: (repository: string, url: string) => Promise<void>;
  /** Commits a file to its branch. */
  write: (repository: string, file: string) => Promise<Written>;
  /** URL of a repository for git, and the command-line options that git needs to push. */
  gitUrl: (repository: string) => string;
  gitOptions: string[];
  /** Waits until the service logs nothing more, and returns the D1 calls since the last call. */
  takeUsage: () => Promise<JobUsage>;
  /** CPU time of workerd so far. */
  cpuSeconds: () => number;
  close: () => Promise<void>;
};

/** A change, by the clock of clock.ts. */
export type Written = { commit: string; startedAtMs: number; answeredAtMs: number };

/** D1 calls by requests, by the dispatch of events, and by deliveries. */
export type D1Calls = { request: number; dispatch: number; deliver: number };

/** D1 calls, and messages of all queues. */
type JobUsage = { d1: D1Calls; messages: number };

/** The fields of the service's log that are read here. */
const Line = z.discriminatedUnion("event", [
  z.object({ event: z.literal("request"), d1Calls: z.number() }),
  z.object({
    event: z.literal("jobs"),
    queue: z.string(),
    messages: z.number(),
    d1Calls: z.number(),
  }),
]);

const KINDS: Readonly<Record<string, keyof D1Calls>> = {
  "edgeforge-events": "dispatch",
  "edgeforge-deliveries": "deliver",
};

/** The log counts as quiet after this time without a line. */
const REST_MS = 400;
const REST_WAIT_MS = 5000;

const noUsage = (): JobUsage => ({ d1: { request: 0, dispatch: 0, deliver: 0 }, messages: 0 });

/** Starts the service as `npm start` does, with its state in `data`. */
export async function openEventForge(data: string): Promise<EventForge> {
  const password = randomBytes(18).toString("base64url");
  let usage = noUsage();
  let loggedAtMs = nowMs();
  const service = await openService(data, {
    administrator: { name: "root", password, email: "root@example.com" },
    vars: {
      WEBHOOKS_MAX: "1000",
      SEALING_KEYS: `bench:${randomBytes(32).toString("base64")}`,
    },
    onLog: ({ level, message }) => {
      const line = Line.safeParse(message.startsWith("{") ? JSON.parse(message) : undefined);
      if (level === "error") console.error(message);
      if (!line.success) return;
      loggedAtMs = nowMs();
      const { data: read } = line;
      const kind = read.event === "request" ? "request" : KINDS[read.queue];
      if (kind) usage.d1[kind] += read.d1Calls;
      if (read.event === "jobs") usage.messages += read.messages;
    },
  });

  const send = async (authorization: string, path: string, json: object): Promise<unknown> => {
    const answer = await fetch(new URL(`/api/v1${path}`, service.origin), {
      method: "POST",
      headers: { authorization, "content-type": "application/json" },
      body: JSON.stringify(json),
    });
    const text = await answer.text();
    if (answer.status === 201) return JSON.parse(text);
    throw new Error(`POST ${path}: unexpected status ${answer.status}:  ${text.slice(0, 300)}`);
  };
  const basic = `Basic ${Buffer.from(`root:${password}`).toString("base64")}`;
  const input = { name: "bench", scopes: ["all"] };
  const { sha1: token } = z
    .object({ sha1: z.string() })
    .parse(await send(basic, "/users/root/tokens", input));
  const post = (path: string, json: object) => send(`token ${token}`, path, json);
  const secret = randomBytes(18).toString("base64url");
  const credentials = Buffer.from(`root:${token}`).toString("base64");

  return {
    makeRepository: async (name) => void (await post("/user/repos", { name, auto_init: true })),
    makeHook: async (repository, url) =>
      void (await post(`/repos/root/${repository}/hooks`, {
        type: "gitea",
        active: true,
        events: ["push"],
        config: { url, content_type: "json", secret },
      })),
    write: async (repository, file) => {
      const startedAtMs = nowMs();
      const body = { content: Buffer.from(file).toString("base64"), message: `Write ${file}` };
      const made = await post(`/repos/root/${repository}/contents/${file}`, body);
      const answeredAtMs = nowMs();
      const { commit } = z.object({ commit: z.object({ sha: z.string() }) }).parse(made);
      return { commit: commit.sha, startedAtMs, answeredAtMs };
    },
    gitUrl: (repository) => new URL(`/root/${repository}.git`, service.origin).href,
    gitOptions: ["-c", `http.extraHeader=Authorization: Basic ${credentials}`],
    takeUsage: async () => {
      const end = nowMs() + REST_WAIT_MS;
      while (nowMs() < end && nowMs() < loggedAtMs + REST_MS) await pause(REST_MS / 4);
      const taken = usage;
      usage = noUsage();
      return taken;
    },
    cpuSeconds: () => readCpuTime(service.pid()).own,
    close: service.close,
  };
}
