import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

import { z } from "zod";

import type { Database } from "../../scripts/serve/migrate.ts";
import { openService, type Service } from "../support/service.ts";

/**
 * The service with one repository. Functions rather than methods, so that callers can pass them on.
 */
export type ContentForge = {
  /** Requests a path below the repository, and reads the response to its end. */
  ask: (request: Request) => Promise<Answer>;
  /** The service's database. */
  database: () => Promise<Database>;
  /**
   * URL of the repository for git, until the service is restarted, and the command-line options
   * that git needs to push.
   */
  git: () => { url: string; options: string[] };
  /** Waits until the consequences of all events are drawn. */
  untilQuiet: () => Promise<void>;
  /** Fires the cron triggers until the service is restarted, as `npm start` does. */
  startSchedule: () => void;
  /**
   * Restarts the service with empty caches, once it is quiet: only the bucket has the packs.
   *
   * @param meanwhile Is called while the service is stopped.
   */
  restartCold: (meanwhile?: () => void) => Promise<void>;
  close: () => Promise<void>;
};

/** What is asked, and what the answer is expected to be. */
export type Request = {
  method?: "POST";
  path: string;
  json?: object;
  /** By default 200. */
  status?: number;
  /** A part of the body. */
  contains?: string;
};

type Answer = {
  body: string;
  /** Size of the body in bytes. */
  bytes: number;
  seconds: number;
  /** Calls to the bucket. */
  r2Calls: number;
};

/**
 * The fields of the log that are read here: of the request's line, and of the line at the end of a
 * stream.
 */
const Line = z.looseObject({ id: z.string(), r2Calls: z.number() });

const REPOSITORY = "content";
/** Maximum delay of the log after a response, in milliseconds. */
const LOG_WAIT_MS = 2000;
/**
 * How long the consequences of events may take, and how often the database is asked, in
 * milliseconds.
 */
const QUIET_MS_MAX = 10 * 60 * 1000;
const QUIET_POLL_MS = 100;

/**
 * Starts the service as `npm start` does, with its state in `data`, and creates an empty
 * repository.
 */
export async function openContentForge(data: string, branch: string): Promise<ContentForge> {
  const password = randomBytes(18).toString("base64url");
  const administrator = { name: "root", password, email: "root@example.com" };
  const calls = new Map<string, number>();
  const start = (): Promise<Service> =>
    openService(data, {
      administrator,
      onLog: ({ level, message }) => {
        const line = Line.safeParse(message.startsWith("{") ? JSON.parse(message) : undefined);
        if (line.success) calls.set(line.data.id, line.data.r2Calls);
        else if (level === "error") console.error(message);
      },
    });
  let service = await start();

  const basic = `Basic ${Buffer.from(`root:${password}`).toString("base64")}`;
  const send = (authorization: string, path: string, { method, json }: Omit<Request, "path">) =>
    fetch(new URL(`/api/v1${path}`, service.origin), {
      method: method ?? "GET",
      headers: { authorization, "content-type": "application/json" },
      ...(json && { body: JSON.stringify(json) }),
    });
  const input = { name: "bench", scopes: ["all"] };
  const made = await send(basic, "/users/root/tokens", { method: "POST", json: input });
  const { sha1: token } = z.object({ sha1: z.string() }).parse(await made.json());
  const created = await send(`token ${token}`, "/user/repos", {
    method: "POST",
    json: { name: REPOSITORY, default_branch: branch },
  });
  if (created.status !== 201) throw new Error(`the repository was not created: ${created.status}`);

  const callsOf = async (id: string): Promise<number> => {
    const end = Date.now() + LOG_WAIT_MS;
    while (!calls.has(id) && Date.now() < end) await new Promise((go) => setTimeout(go, 5));
    const count = calls.get(id);
    if (count === undefined) throw new Error("a request was not logged");
    return count;
  };
  const untilQuiet = async (): Promise<void> => {
    const end = Date.now() + QUIET_MS_MAX;
    const db = await service.database();
    const pending = db.prepare(
      "select count(*) as n from events where consequences_at is not null or dispatch_at is not null",
    );
    for (;;) {
      const left = Number((await pending.all()).results[0]?.["n"]);
      if (left === 0) return;
      if (Date.now() > end) throw new Error(`${left} events are pending`);
      await wait(QUIET_POLL_MS);
    }
  };
  const credentials = Buffer.from(`root:${token}`).toString("base64");
  return {
    ask: async ({ path, status = 200, contains = "", ...request }) => {
      const from = performance.now();
      const answer = await send(`token ${token}`, `/repos/root/${REPOSITORY}${path}`, request);
      const bytes = Buffer.from(await answer.arrayBuffer());
      const seconds = (performance.now() - from) / 1000;
      const body = bytes.toString();
      if (answer.status !== status || !body.includes(contains)) {
        throw new Error(`${path} was answered ${answer.status}: ${body.slice(0, 300)}`);
      }
      const id = answer.headers.get("x-request-id") ?? "";
      return { body, bytes: bytes.length, seconds, r2Calls: await callsOf(id) };
    },
    git: () => ({
      url: new URL(`/root/${REPOSITORY}.git`, service.origin).href,
      options: ["-c", `http.extraHeader=Authorization: Basic ${credentials}`],
    }),
    database: () => service.database(),
    untilQuiet,
    startSchedule: () => service.startSchedule(),
    restartCold: async (meanwhile) => {
      // Local queues forget their messages with the process: what is pending would wait for the
      // schedule.
      await untilQuiet();
      await service.close();
      meanwhile?.();
      rmSync(join(data, "cache"), { recursive: true, force: true });
      service = await start();
    },
    close: () => service.close(),
  };
}
