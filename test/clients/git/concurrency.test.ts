import { expect, it } from "vitest";

import { makeRepo, type Repo } from "../support/forge.ts";
import { clone, commit, git, listRemote, makeWork, tryGit } from "../support/git.ts";
import { expectMirror } from "../support/mirror.ts";

const PUSHERS = 10;

/** A repository of one commit, and ten clones with one more commit each. */
async function makeRivals(): Promise<{ repo: Repo; rivals: string[]; oids: string[] }> {
  const repo = await makeRepo();
  const work = await makeWork();
  await commit(work, { a: "0" });
  await git(work, ["push", "--quiet", repo.ownUrl, "main"]);
  const rivals: string[] = [];
  const oids: string[] = [];
  for (let at = 0; at < PUSHERS; at++) {
    const directory = await clone(repo.ownUrl);
    rivals.push(directory);
    oids.push(await commit(directory, { [`file-${at}`]: String(at) }, `change ${at}`));
  }
  return { repo, rivals, oids };
}

it("of ten concurrent pushes to one ref exactly one succeeds, and the others after fetch and rebase", async () => {
  const { repo, rivals, oids } = await makeRivals();
  const push = (directory: string) => tryGit(directory, ["push", "origin", "main"]);
  const outcomes = await Promise.all(rivals.map(push));
  const winners = oids.filter((_, at) => outcomes[at]?.code === 0);
  expect(winners).toHaveLength(1);
  expect(await listRemote(repo.url)).toContain(`${winners[0]}\trefs/heads/main`);

  const losers = rivals.filter((_, at) => outcomes[at]?.code !== 0);
  for (const { output } of outcomes.filter(({ code }) => code !== 0)) {
    expect(output).toMatch(/\[(?:remote )?rejected\].*\(fetch first\)/);
  }
  for (const directory of losers) {
    expect((await push(directory)).output).toContain("fetch first");
    await git(directory, ["pull", "--quiet", "--rebase", "origin", "main"]);
    await git(directory, ["push", "--quiet", "origin", "main"]);
  }
  const copy = await clone(repo.url);
  expect((await git(copy, ["ls-files"])).split("\n")).toHaveLength(PUSHERS + 1);
  expect(await git(copy, ["rev-list", "--count", "--max-parents=1", "main"])).toBe(
    String(PUSHERS + 1),
  );
});

// Another known server refuses all but one of these pushes.
it("ten concurrent pushes to different branches all succeed", async () => {
  const { repo, rivals, oids } = await makeRivals();
  await Promise.all(
    rivals.map((directory, at) => git(directory, ["push", "--quiet", "origin", `main:own-${at}`])),
  );
  const refs = await listRemote(repo.url);
  for (const [at, oid] of oids.entries()) expect(refs).toContain(`${oid}\trefs/heads/own-${at}`);
  const copy = await clone(repo.url, "--mirror");
  expect(await git(copy, ["rev-list", "--count", "--all"])).toBe(String(PUSHERS + 1));
});

it("clones and fetches between pushes are complete, and no tag arrives before its commit", async () => {
  const repo = await makeRepo();
  const work = await makeWork();
  // Each push updates a branch and a tag.
  const pushNext = async (at: number): Promise<void> => {
    await commit(work, { [`dir/${at % 4}`]: `text ${at}\n`.repeat(50) }, `change ${at}`);
    await git(work, ["tag", "-a", "-m", String(at), `v${at}`]);
    await git(work, ["push", "--quiet", "--atomic", repo.ownUrl, "main", `v${at}`]);
  };
  await pushNext(0);
  const pushing = { isOver: false };
  const push = async (): Promise<void> => {
    for (let at = 1; at <= 12; at++) await pushNext(at);
    pushing.isOver = true;
  };
  const read = async (version: number): Promise<void> => {
    const protocol = ["-c", `protocol.version=${version}`];
    const follower = await clone(repo.url, ...protocol, "--mirror");
    while (!pushing.isOver) {
      const copy = await clone(repo.url, ...protocol, "--mirror");
      await git(follower, [...protocol, "fetch", "--quiet"]);
      await git(follower, ["fsck", "--strict", "--full"]);
      for (const each of [copy, follower]) {
        const tags = (await git(each, ["tag", "--list"])).split("\n").length;
        const commits = Number(await git(each, ["rev-list", "--count", "main"]));
        // Version 2 fetches a branch by name, which may have advanced since it was listed.
        expect(commits).toBeGreaterThanOrEqual(tags);
        expect(version === 2 || commits === tags).toBe(true);
      }
    }
  };
  await Promise.all([push(), read(0), read(2)]);
  await expectMirror(await clone(repo.url, "--mirror"), work);
});
