import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { z } from "zod";

import { inProject } from "../../scripts/project.ts";
import { Refusal } from "../../scripts/refusal.ts";
import { startPeerProcess } from "../support/peer-process.ts";
import { type EdgeForge, observe } from "./forge.ts";

export const VERSION = "2.0.0-beta.79";
const EFFECT_VERSION = "4.0.0-rc.115";

const MANIFEST = {
  private: true,
  type: "module",
  dependencies: {
    alchemy: VERSION,
    effect: EFFECT_VERSION,
    "@effect/platform-node": EFFECT_VERSION,
  },
  // It takes newer ones, which need a newer `effect`.
  overrides: {
    "@effect/platform-node-shared": EFFECT_VERSION,
    "@effect/sql-sqlite-do": EFFECT_VERSION,
  },
};

/** Its git service with its parts for Cloudflare, open to everybody. */
const workerAt = (port: number): string => `
import * as Alchemy from "alchemy";
import * as Cloudflare from "alchemy/Cloudflare";
import * as Git from "alchemy/Git";
import * as Http from "alchemy/Http";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as HttpRouter from "effect/unstable/http/HttpRouter";

const routes = Layer.mergeAll(Git.ApiLive, Git.InternalApiLive).pipe(
  Layer.provide(Git.ApiHandlersLive),
  Layer.provide(Git.ReposDurableObject),
  Layer.provide(Git.RegistryDurableObject),
  Layer.provide(Git.HasherInline),
  Layer.provide(Git.BlobStoreR2(Cloudflare.R2.Bucket("Objects"))),
  Layer.provide(Http.Platform),
);

export default class Host extends Cloudflare.Worker<Host>()(
  "Host",
  { main: import.meta.url, ...Git.GIT_WORKER_OPTIONS, dev: { port: ${port} } },
  Effect.map(HttpRouter.toHttpEffect(routes), (fetch) => ({ fetch })),
) {}
`;

const STACK = `
import * as Alchemy from "alchemy";
import * as Cloudflare from "alchemy/Cloudflare";
import * as Effect from "effect/Effect";
import Host from "./host.ts";

export default Alchemy.Stack(
  "Bench",
  { providers: Cloudflare.providers(), state: Alchemy.localState() },
  Effect.map(Host, ({ url }) => ({ url })),
);
`;

/** It asks for an account also where all runs on this machine, and does not look at it. */
const NO_ACCOUNT = {
  CLOUDFLARE_ACCOUNT_ID: "0".repeat(32),
  CLOUDFLARE_API_TOKEN: "none",
};

const Repository = z.object({ status: z.string(), objects: z.object({ loose: z.number() }) });
type Repository = z.infer<typeof Repository>;

const JOB_WAIT_MS = 120_000;

/**
 * Starts alchemy's git service as `alchemy dev` does, with its state in `directory`.
 *
 * @throws Refusal if it can't be installed.
 */
export async function openAlchemy(directory: string): Promise<EdgeForge> {
  mkdirSync(directory, { recursive: true });
  symlinkSync(join(installed(), "node_modules"), join(directory, "node_modules"));
  writeFileSync(join(directory, "package.json"), JSON.stringify(MANIFEST));
  writeFileSync(join(directory, "alchemy.run.ts"), STACK);
  const { origin, pid, close } = await startPeerProcess({
    program: process.execPath,
    args: (port) => {
      writeFileSync(join(directory, "host.ts"), workerAt(port));
      return [join(directory, "node_modules/alchemy/bin/cli.js"), "dev", "--stage", "bench"];
    },
    cwd: directory,
    env: NO_ACCOUNT,
    readyPath: "/api/v1/repos",
  });
  const send = async (method: string, path: string, json?: object): Promise<unknown> => {
    const answer = await fetch(new URL(`/api/v1${path}`, origin), {
      method,
      headers: { "content-type": "application/json" },
      body: json === undefined ? null : JSON.stringify(json),
    });
    const text = await answer.text();
    if (answer.ok) return text === "" ? undefined : JSON.parse(text);
    throw new Error(`alchemy: ${method} ${path}: ${answer.status} ${text.slice(0, 300)}`);
  };
  const waitUntil = async (path: string, is: (found: Repository) => boolean): Promise<void> => {
    for (const end = Date.now() + JOB_WAIT_MS; Date.now() < end;) {
      if (is(Repository.parse(await send("GET", path)))) return;
      await pause(100);
    }
    throw new Error(`alchemy: what was asked of ${path} does not end`);
  };
  return {
    ...observe(pid),
    name: "alchemy",
    create: async (name, defaultBranch) => {
      await send("POST", "/repos", { owner: "root", name, defaultBranch, public: true });
      return new URL(`/root/${name}.git`, origin).href;
    },
    writeOptions: [],
    compact: async (name) => {
      await send("POST", `/repos/root/${name}/compact`);
      await waitUntil(`/repos/root/${name}`, ({ objects }) => objects.loose === 0);
    },
    fork: async (name, targetName) => {
      await send("POST", `/repos/root/${name}/fork`, { targetOwner: "forks", targetName });
      await waitUntil(`/repos/forks/${targetName}`, ({ status }) => status === "ready");
    },
    close,
  };
}

/** The directory into which its packages are installed, once for all runs. */
function installed(): string {
  const directory = inProject(`node_modules/.cache/alchemy-${VERSION}`);
  if (existsSync(join(directory, "node_modules/.package-lock.json"))) return directory;
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "package.json"), JSON.stringify(MANIFEST));
  const install = ["install", "--silent", "--no-audit", "--no-fund"];
  const { status } = spawnSync("npm", install, { cwd: directory, stdio: "inherit" });
  if (status !== 0) throw new Refusal(`alchemy ${VERSION} can't be installed`);
  return directory;
}
