import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { git } from "../git/git.ts";
import { makeDocument } from "../packages/documents.ts";
import { type Forge, OWNER } from "./forge.ts";
import type { Kind } from "./latencies.ts";
import type { Receiver } from "./receiver.ts";
import type { Upstream } from "./upstream.ts";

type Setup = {
  forge: Forge;
  receiver: Receiver;
  /** Does work and notes its duration. */
  time: <Result>(kind: Kind, work: () => Promise<Result>) => Promise<Result>;
  /** What the worker's mirror follows. */
  upstream: Upstream;
  /** An empty directory for the worker's clones. */
  work: string;
  /** Begins the names of its repositories and packages. */
  name: string;
};

/** A step of the load: `at` counts the steps of all workers. */
export type Step = (at: number) => Promise<void>;

/**
 * Steps after which the worker's repository and package are replaced by new ones, so that the load
 * stays the same.
 */
const STEPS_OF_REPOSITORY = 400;

/**
 * Of 25 steps, each is the kind at its place: 12 reads, 5 writes, 2 pushes, 1 fetch, 3 reads of a
 * package, 1 publication, 1 mirror.
 */
const MIX = "r w r r i p r w r r u w r r i f r w r p r m w i r".split(" ");

/** How long a mirror may take to follow, and between two looks at whether it has. */
const FOLLOWS_MAX_MS = 180_000;
const LOOK_MS = 50;

/**
 * A worker with a repository, a clone, a mirror and a package of its own, so that workers do not
 * meet.
 */
export async function openSteps(setup: Setup): Promise<Step> {
  const { forge, receiver, time, upstream, work, name } = setup;
  const mirror = `${name}-mirror`;
  const clone = join(work, "clone");
  let [generation, done, pushes] = [0, 0, 0];
  /** The latest push and the latest version that were answered as done. */
  let pushed = "";
  let version = 0;
  await forge.send("POST", "/repos/migrate", {
    clone_addr: upstream.url,
    repo_name: mirror,
    service: "git",
    mirror: true,
    mirror_interval: "0",
  });
  let repository = await makeRepository();

  return async (at) => {
    if (++done % STEPS_OF_REPOSITORY === 0) repository = await replaceRepository();
    const kind = MIX[at % MIX.length];
    const turn = Math.floor(at / MIX.length) + at;
    if (kind === "p") await push();
    else if (kind === "f") await fetchAll();
    else if (kind === "u") await time("publish", publish);
    else if (kind === "i") await time("package read", () => readPackage(turn));
    else if (kind === "m") await time("mirror", followUpstream);
    else if (kind === "w") await time("write", () => write(turn));
    else await time("read", () => readNext(turn));
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
    await forge.surviving(async () => {
      rmSync(clone, { recursive: true, force: true });
      await git(work, ["clone", "--quiet", forge.gitUrl(created), "clone"]);
    });
    pushed = await git(clone, ["rev-parse", "HEAD"]);
    version = 0;
    await publish();
    return created;
  }

  async function replaceRepository(): Promise<string> {
    // Deliveries end with their hook.
    while (receiver.pending() > 0) await pause(LOOK_MS);
    await forge.send("DELETE", `/repos/${OWNER}/${repository}`);
    for (let each = 1; each <= version; each++) {
      await forge.send("DELETE", `/packages/${OWNER}/npm/${packageName()}/1.0.${each}`);
    }
    generation++;
    return makeRepository();
  }

  function packageName(): string {
    return `package-${name}-${generation}`;
  }

  async function publish(): Promise<void> {
    const document = await makeDocument(packageName(), `1.0.${version + 1}`);
    await forge.sendRaw("PUT", `/api/packages/${OWNER}/npm/${packageName()}`, document);
    version++;
  }

  /** As an installation does: the document, and a tarball of it. */
  async function readPackage(turn: number): Promise<void> {
    const path = `/api/packages/${OWNER}/npm/${packageName()}`;
    const document = (await forge.sendRaw("GET", path)) as { versions: Record<string, unknown> };
    const read = Object.keys(document.versions).length;
    if (read !== version) throw new Error(`${path} has ${read} versions, not ${version}`);
    const file = `${packageName()}-1.0.${1 + (turn % version)}.tgz`;
    await forge.sendRaw("GET", `${path}/-/${file}`);
  }

  async function followUpstream(): Promise<void> {
    const tip = await upstream.commit();
    await forge.send("POST", `/repos/${OWNER}/${mirror}/mirror-sync`);
    const until = performance.now() + FOLLOWS_MAX_MS;
    while ((await tipOf(mirror)) !== tip) {
      if (performance.now() > until) throw new Error(`${mirror} does not follow ${tip}`);
      await pause(LOOK_MS);
    }
  }

  async function tipOf(of: string): Promise<string> {
    const url = forge.gitUrl(of);
    const refs = await forge.surviving(() => git(work, ["ls-remote", url, "refs/heads/main"]));
    return refs.split("\t")[0] ?? "";
  }

  async function readNext(turn: number): Promise<unknown> {
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
      `${path}/activities/feeds`,
      `${path}/issues`,
    ];
    return forge.send("GET", paths[turn % paths.length] ?? "");
  }

  async function write(turn: number): Promise<unknown> {
    const path = `/repos/${OWNER}/${repository}`;
    switch (turn % 6) {
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
      case 4:
        return forge.send("POST", `${path}/issues`, { title: `step ${turn}`, body: "as **text**" });
      default: {
        const Text = `# Step ${turn}\n\n- **one**\n- [two](README.md)\n\n\`\`\`ts\nlet a = ${turn};\n\`\`\``;
        return forge.send("POST", "/markdown", { Text, Mode: "gfm" });
      }
    }
  }

  async function push(): Promise<void> {
    const stored = await tipOf(repository);
    if (stored !== pushed) throw new Error(`${repository} is at ${stored}, not at ${pushed}`);
    pushes++;
    writeFileSync(join(clone, `file-${pushes % 20}`), `${pushes}\n`.repeat(200));
    await git(clone, ["add", "--all"]);
    await git(clone, ["commit", "--quiet", "--message", `push ${pushes}`]);
    const commit = await git(clone, ["rev-parse", "HEAD"]);
    receiver.expect(commit);
    await time("push", () =>
      forge.surviving(() => git(clone, ["push", "--quiet", "origin", "main"])),
    );
    pushed = commit;
  }

  async function fetchAll(): Promise<void> {
    const args = ["fetch", "--quiet", "--prune", "origin"];
    await time("fetch", () => forge.surviving(() => git(clone, args)));
  }
}
