import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { join } from "node:path";

import { inProject } from "../project.ts";
import { Refusal } from "../refusal.ts";
import { run } from "../tools/run.ts";
import { activeMs, Profile } from "./active-time.ts";
import type { Check } from "./check.ts";
import { slowness } from "./machine-speed.ts";

// The platform allows one second for the start-up, and a cold request waits for it. A hundred
// operations of the API take about 40 ms.
const startUpMaxMs = 300;
const roundsMax = 12;

/**
 * Processor time of the first evaluation of the bundle, in workerd: the shortest of the profiles,
 * since other programs on the machine only make them longer. Each is divided by how slow the
 * machine was right before and after it, the lesser of both. There are no more of them once one is
 * within the bound. Modules that are imported during a request are not included.
 */
export const startUp: Check = {
  name: "start-up",
  run: async () => {
    const parent = inProject("node_modules/.cache");
    await mkdir(parent, { recursive: true });
    const directory = await mkdtemp(join(parent, "start-up-"));
    try {
      const times = await profile(directory);
      const shortest = Math.min(...times);
      const detail = `${shortest.toFixed(0)} of ${startUpMaxMs} ms; ${times.map((ms) => ms.toFixed(0)).join(", ")}`;
      return { isOk: shortest <= startUpMaxMs, detail };
    } finally {
      await rm(directory, { recursive: true });
    }
  },
};

async function profile(directory: string): Promise<number[]> {
  const bundle = join(directory, "worker.bundle");
  const outfile = join(directory, "start.cpuprofile");
  await wrangler(["deploy", "--dry-run", "--minify", "--outfile", bundle]);

  const times: number[] = [];
  do {
    const before = slowness();
    await wrangler(["check", "startup", "--worker", bundle, "--outfile", outfile]);
    const ms = activeMs(Profile.parse(JSON.parse(await readFile(outfile, "utf8"))));
    times.push(ms / Math.min(before, slowness()));
  } while (times.length < roundsMax && Math.min(...times) > startUpMaxMs);
  return times;
}

async function wrangler(args: string[]): Promise<void> {
  const { code, output } = await run("wrangler", args);
  if (code !== 0) throw new Refusal(output.trim());
}
