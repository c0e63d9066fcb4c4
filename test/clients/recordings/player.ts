import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { ENVIRONMENT } from "../support/git.ts";
import { tryProgram } from "../support/run-program.ts";
import { callApi, type Caller, admin, serviceUrl } from "../support/forge.ts";
import { type Forward, openForward } from "../support/forward.ts";
import type { Answer, GitAnswer, GitStep, RequestStep, Step } from "./recording.ts";

type Json = Answer["body"];

const ROLES = ["owner", "writer", "reader", "stranger"] as const;
const PASSWORD = "Recorded-pass-1";

/** How often a step that waits for a job asks, and the time between. */
export const TRIES_MAX = 30;
export const WAIT_MS = 100;

/** Plays the requests of a recording, as callers of its own. */
export class Player {
  /** The suffix of all names of this run. */
  readonly run: string;
  /** What the names of a recording stand for. */
  private readonly values: Map<string, Json>;
  private readonly callers: ReadonlyMap<string, Caller>;
  /** The folder in which commands with git run. */
  private readonly folder = mkdtempSync(join(tmpdir(), "edgeforge-recording-"));

  /** The address by which the service is a remote of its own. */
  private readonly forward: Forward | undefined;

  private constructor(
    run: string,
    callers: ReadonlyMap<string, Caller>,
    values: Map<string, Json>,
    forward: Forward | undefined,
  ) {
    this.run = run;
    this.callers = callers;
    this.values = values;
    this.forward = forward;
  }

  /**
   * Makes a user for each role in the steps; they sign in by tokens, which cost the service no hash
   * of a password.
   */
  static async start(steps: readonly Step[]): Promise<Player> {
    const text = JSON.stringify(steps);
    const run = Array.from({ length: 6 }, () => "abcdefghijklmnopqrstuvwxyz"[randomUnder(26)]).join(
      "",
    );
    const isOwnRemote = /"(?:clone_addr|remote_address)"/.test(text);
    const forward = isOwnRemote ? await openForward() : undefined;
    const callers = new Map<string, Caller>();
    const values = new Map<string, Json>([
      ["run", run],
      ["admin", admin.name],
      ["base", forward?.url ?? serviceUrl],
    ]);
    for (const role of ROLES) {
      const name = `${role}-${run}`;
      values.set(role, name);
      // Named as a caller, in a request, or in an answer.
      const names = [`"as":"${role}"`, `\${${role}}`, `${role}-<run>`, `_${role}`];
      if (!names.some((each) => text.includes(each))) continue;
      const email = `${name}@example.org`;
      const user = { username: name, email, password: PASSWORD, must_change_password: false };
      await callApi(admin, "POST", "/admin/users", user);
      callers.set(role, { name, password: await makeToken(name, "rec") });
    }
    callers.set("admin", { name: admin.name, password: await makeToken(admin.name, `rec-${run}`) });
    return new Player(run, callers, values, forward);
  }

  /** Removes what the commands left. */
  stop(): void {
    this.forward?.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /**
   * Runs commands with git, which find the run, and the name and an address of each caller, in
   * their environment.
   */
  async runGit({ git }: GitStep): Promise<GitAnswer> {
    const callers = [...this.callers].flatMap(([role, { name, password }]) => [
      [`NAME_${role}`, name],
      [`URL_${role}`, serviceUrl.replace("://", `://${name}:${password}@`)],
    ]);
    const date = "2026-01-02T03:04:05Z";
    // Where the recording let the clock move on, jobs have twice the time: a busy machine is slow.
    const command = git.replace(/^sleep ([\d.]+)$/, (_, seconds) => `sleep ${2 * Number(seconds)}`);
    const { code, output } = await tryProgram("bash", ["-ec", command], {
      directory: this.folder,
      env: {
        ...ENVIRONMENT,
        ...Object.fromEntries(callers),
        RUN: this.run,
        HOME: this.folder,
        GIT_AUTHOR_NAME: "Ann",
        GIT_AUTHOR_EMAIL: "ann@example.org",
        GIT_AUTHOR_DATE: date,
        GIT_COMMITTER_NAME: "Ann",
        GIT_COMMITTER_EMAIL: "ann@example.org",
        GIT_COMMITTER_DATE: date,
      },
    });
    const lines = output.split(/[\r\n]+/);
    return {
      exit: code ?? 1,
      remote: lines.filter((line) => /^remote: *\S/.test(line)),
      rejected: lines
        .filter((line) => line.includes("rejected"))
        .map((line) => line.trim().replaceAll(/\s+/g, " ")),
    };
  }

  /** Plays a step, again until its answer has what it waits for, or until that takes too long. */
  async play(step: RequestStep): Promise<Answer> {
    const { wait } = step;
    let answer = await this.request(step);
    if (!wait) return answer;
    const expected = JSON.stringify(this.fill(wait.equals));
    for (let tries = 1; tries < TRIES_MAX; tries++) {
      if (JSON.stringify(pick(answer.body, wait.path)) === expected) break;
      await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
      answer = await this.request(step);
    }
    return answer;
  }

  private async request(step: RequestStep): Promise<Answer> {
    const caller = step.as ? this.callers.get(step.as) : undefined;
    const headers = new Headers({ Accept: "application/json" });
    if (caller) headers.set("Authorization", basic(caller));
    const body = toBody(this.fill(step.body ?? null), headers);
    for (const [name, value] of Object.entries(step.headers ?? {})) {
      headers.set(name, toText(this.fill(value)));
    }
    const response = await fetch(serviceUrl + toText(this.fill(step.path)), {
      method: step.method,
      headers,
      redirect: "manual",
      ...(body !== undefined && { body }),
    });
    const answered = await response.text();
    const text = this.forward ? answered.replaceAll(this.forward.url, serviceUrl) : answered;
    const answer: Answer = {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: parse(text),
    };
    for (const [name, path] of Object.entries(step.save ?? {})) {
      const saved = path.startsWith("@")
        ? (answer.headers[path.slice(1)]?.replace(serviceUrl, "") ?? null)
        : pick(answer.body, path);
      this.values.set(name, saved);
    }
    return answer;
  }

  private fill(value: Json): Json {
    if (typeof value === "string") {
      const whole = /^\$\{(\w+)\}$/.exec(value)?.[1];
      if (whole !== undefined) return this.values.get(whole) ?? null;
      return value.replaceAll(/\$\{(\w+)\}/g, (_, name: string) =>
        toText(this.values.get(name) ?? null),
      );
    }
    if (Array.isArray(value)) return value.map((each) => this.fill(each as Json));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, this.fill(each)]));
  }
}

const randomUnder = (max: number): number => Math.floor(Math.random() * max);

const basic = ({ name, password }: Caller): string =>
  `Basic ${Buffer.from(`${name}:${password}`).toString("base64")}`;

async function makeToken(user: string, name: string): Promise<string> {
  const body = { name, scopes: ["all"] };
  return (await callApi<{ sha1: string }>(admin, "POST", `/users/${user}/tokens`, body)).sha1;
}

/** A value in a path, in a header or within a text. */
const toText = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value));

/**
 * The body of a request, whose content type it sets: `$raw` is a text and `$base64` bytes, anything
 * else JSON.
 */
function toBody(body: Json, headers: Headers): string | Uint8Array<ArrayBuffer> | undefined {
  if (body === null) return undefined;
  const { $raw, $base64, $type } = body as Record<string, string | undefined>;
  if ($raw !== undefined) headers.set("Content-Type", $type ?? "text/plain");
  else if ($base64 !== undefined) headers.set("Content-Type", $type ?? "application/octet-stream");
  else headers.set("Content-Type", "application/json");
  if ($base64 !== undefined) return new Uint8Array(Buffer.from($base64, "base64"));
  return $raw ?? JSON.stringify(body);
}

function parse(text: string): Json {
  try {
    return text === "" ? null : (JSON.parse(text) as Json);
  } catch {
    return { $text: text.slice(0, 4000) };
  }
}

function pick(value: Json, path: string): Json {
  let at: Json | undefined = value;
  for (const part of path.split(".")) {
    at = Array.isArray(at) && part.startsWith("-") ? at.at(Number(part)) : (at as never)?.[part];
  }
  return at ?? null;
}
