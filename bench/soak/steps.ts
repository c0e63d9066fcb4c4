import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { git } from "../git/git.ts";
import { type Forge, OWNER } from "./forge.ts";
import type { Latencies } from "./latencies.ts";
import type { Receiver } from "./receiver.ts";

type Setup = {
  forge: Forge;
  receiver: Receiver;
  latencies: Latencies;
  /** An empty directory for the worker's clones. */
  work: string;
  /** Begins the names of its repositories. */
  name: string;
};

/** A step of the load: `at` counts from any number. */
export type Step = (at: number) => Promise<void>;

/** Steps after which the worker's repository is replaced by a new one, so that the load stays the same. */
const STEPS_OF_REPOSITORY = 400;

/** One of twenty steps each is the kind at its place: 12 reads, 5 writes, 2 pushes, 1 fetch. */
const MIX = "r w r r p r w r r w r r f r w r p r w r".split(" ");

/** A worker with a repository and a clone of its own, so that workers do not push over one another. */
export async function openSteps(setup: Setup): Promise<Step> {
  const { forge, receiver, latencies, work, name } = setup;
  let [generation, done, pushes] = [0, 0, 0];
  let repository = await makeRepository();

  return async (at) => {
    if (++done % STEPS_OF_REPOSITORY === 0) repository = await replaceRepository();
    const kind = MIX[at % MIX.length];
    const turn = Math.floor(at / MIX.length) + at;
    if (kind === "p") await push();
    else if (kind === "f") await fetchAll();
    else if (kind === "w") await latencies.time("write", () => write(turn));
    else await latencies.time("read", () => read(turn));
  };

  async function makeRepository(): Promise<string> {
    const created = `${name}-${generation}`;
    await forge.send("POST", "/user/repos", { name: created, auto_init: true });
    await forge.send("POST", `/repos/${OWNER}/${created}/hooks`, {
      type: "gitea",
      active: true,
      events: ["push"],
      config: { url: receiver.origin, content_type: "json" },
    });
    await git(work, ["clone", "--quiet", forge.gitUrl(created), "clone"]);
    return created;
  }

  async function replaceRepository(): Promise<string> {
    // Deliveries end with their hook.
    while (receiver.pending() > 0) await new Promise((resolve) => setTimeout(resolve, 50));
    await forge.send("DELETE", `/repos/${OWNER}/${repository}`);
    rmSync(join(work, "clone"), { recursive: true });
    generation++;
    return makeRepository();
  }

  async function read(turn: number): Promise<unknown> {
    const path = `/repos/${OWNER}/${repository}`;
    const paths = [
      "/version",
      path,
      "/user",
      `${path}/contents`,
      `/users/${OWNER}`,
      `${path}/commits?limit=20`,
      "/repos/search?q=worker",
      `${path}/contents/README.md`,
      "/user/repos",
      `${path}/branches`,
      `${path}/raw/README.md`,
      `${path}/hooks`,
      `/repos/${OWNER}/${repository}/activities/feeds`,
    ];
    return forge.send("GET", paths[turn % paths.length] ?? "");
  }

  async function write(turn: number): Promise<unknown> {
    const path = `/repos/${OWNER}/${repository}`;
    switch (turn % 5) {
      case 0:
        return forge.send("PATCH", path, { description: `step ${turn}` });
      case 1:
        return forge.send("PUT", `${path}/topics`, { topics: [`topic-${turn % 7}`] });
      case 2: {
        // On a branch of its own, so that the clone can push to the default branch.
        const json = { content: btoa(`step ${turn}\n`), new_branch: `api-${pushes}-${done}` };
        return forge.send("POST", `${path}/contents/file-${turn}.txt`, json);
      }
      case 3: {
        const created = `${name}-short-${done}`;
        await forge.send("POST", "/user/repos", { name: created, auto_init: true });
        return forge.send("DELETE", `/repos/${OWNER}/${created}`);
      }
      default: {
        const Text = `# Step ${turn}\n\n- **one**\n- [two](README.md)\n\n\`\`\`ts\nlet a = ${turn};\n\`\`\``;
        return forge.send("POST", "/markdown", { Text, Mode: "gfm" });
      }
    }
  }

  async function push(): Promise<void> {
    const directory = join(work, "clone");
    pushes++;
    writeFileSync(join(directory, `file-${pushes % 20}`), `${pushes}\n`.repeat(200));
    await git(directory, ["add", "--all"]);
    await git(directory, ["commit", "--quiet", "--message", `push ${pushes}`]);
    receiver.expect(await git(directory, ["rev-parse", "HEAD"]));
    await latencies.time("push", () => git(directory, ["push", "--quiet", "origin", "main"]));
  }

  async function fetchAll(): Promise<void> {
    const directory = join(work, "clone");
    const args = ["fetch", "--quiet", "--prune", "origin"];
    await latencies.time("fetch", () => git(directory, args));
  }
}
