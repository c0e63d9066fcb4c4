import { setTimeout as pause } from "node:timers/promises";

import { git } from "../git/git.ts";
import type { Source } from "../git/source.ts";
import { treeCpuSeconds } from "../support/process-tree.ts";
import type { StartedService } from "../support/started-service.ts";
import { type Caller, OWNER } from "./caller.ts";

/** The service counts as idle after this time without CPU use. */
const REST_MS = 100;
const REST_WAIT_MS = 60_000;

/**
 * Pushes all of a source into a new repository, until the service has done what follows from it.
 */
export type Pusher = (source: Source) => Promise<void>;

export function openPusher(service: StartedService, { token, send }: Caller): Pusher {
  const credentials = Buffer.from(`${OWNER}:${token}`).toString("base64");
  // Sent with the first request: an unauthenticated first attempt would cost an additional round
  // trip.
  const options = ["-c", `http.extraHeader=Authorization: Basic ${credentials}`];
  let count = 0;
  return async ({ size, path, branch }) => {
    const name = `${size}-${(count += 1)}`;
    await send("POST", "/api/v1/user/repos", { name, default_branch: branch });
    const url = `${service.origin}/${OWNER}/${name}.git`;
    await git(path, [...options, "push", "--quiet", "--mirror", url]);
    const cpu = (): number => treeCpuSeconds(service.pid());
    const end = Date.now() + REST_WAIT_MS;
    for (let before = -1; before !== cpu() && Date.now() < end;) {
      before = cpu();
      await pause(REST_MS);
    }
  };
}
