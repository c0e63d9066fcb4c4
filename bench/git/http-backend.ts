import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { z } from "zod";

import type { Forge } from "./forge.ts";
import { git, GIT_ENVIRONMENT } from "./git.ts";
import { readCpuTime } from "../support/process.ts";

const Ready = z.object({ port: z.number() });

/**
 * Starts `git http-backend` behind a web server.
 *
 * @param root Directory for its repositories.
 */
export async function openHttpBackend(root: string): Promise<Forge> {
  mkdirSync(root);
  const program = join(await git(root, ["--exec-path"]), "git-http-backend");
  const server = fork(new URL("cgi-server.ts", import.meta.url), [root, program], {
    env: GIT_ENVIRONMENT,
  });
  const nextMessage = async (): Promise<unknown> => {
    const ended = new AbortController();
    try {
      const { signal } = ended;
      const exit = once(server, "exit", { signal }).then(() => {
        throw new Error("the web server in front of git has ended");
      });
      const [message]: unknown[] = await Promise.race([once(server, "message", { signal }), exit]);
      return message;
    } finally {
      ended.abort();
    }
  };
  const { port } = Ready.parse(await nextMessage());
  const pid = server.pid ?? 0;

  return {
    name: "git",
    create: async (name, branch) => {
      await git(root, ["init", "--quiet", "--bare", `--initial-branch=${branch}`, `${name}.git`]);
      await git(join(root, `${name}.git`), ["config", "http.receivepack", "true"]);
      return `http://127.0.0.1:${port}/${name}.git`;
    },
    writeOptions: [],
    compact: async (name) => {
      await git(join(root, `${name}.git`), ["gc", "--quiet"]);
    },
    settle: async () => {
      const idle = nextMessage();
      server.send("settle");
      await idle;
    },
    // Only child processes: the CPU time of the web server itself does not count for git.
    cpuSeconds: () => readCpuTime(pid).children,
    pid: () => undefined,
    takeUsage: () => undefined,
    close: async () => {
      if (server.exitCode !== null || server.signalCode !== null) return;
      const ended = once(server, "exit");
      server.kill("SIGTERM");
      await ended;
    },
  };
}
