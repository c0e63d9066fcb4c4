import { describe, expect, it } from "vitest";

import { makeMirror, namedRefs, pushTo, syncFrom } from "../../../support/mirrors.ts";
import { RandomHistory } from "../../../support/random-history.ts";
import { GitRemote, makeRemote } from "../../../support/remotes.ts";
import { seedsOf } from "../../../support/sample.ts";

/** Rounds of each history: it grows, and loses something, between two syncs. */
const ROUNDS = 2;

const SEEDS = seedsOf(4, 30, "mirror histories");

// The reference is git: its own `clone --mirror`, `remote update --prune` and `push --mirror` of
// the same repository.
describe("a mirror in both directions", { timeout: 120_000 }, () => {
  it.each(SEEDS)("has the refs and objects that git's own has, with history %d", async (seed) => {
    const history = new RandomHistory(seed);
    const source = await makeRemote();
    const clone = new GitRemote(`clone-${source.name}`);
    const [pushedByGit, pushed] = [await makeRemote(), await makeRemote()];
    // Git deletes the branch of HEAD only on request.
    for (const each of [pushedByGit, pushed]) {
      await each.git(["config", "receive.denyDeleteCurrent", "ignore"]);
    }
    const { repo } = await makeMirror();
    for (let round = 0; round < ROUNDS; round++) {
      await source.git(["fast-import", "--quiet", "--force"], history.grow(await source.refs()));
      if (round > 0) {
        await source.git(["update-ref", "--stdin"], history.shrink(await source.refs()));
      }
      if (round === 0) await source.git(["clone", "--quiet", "--mirror", source.name, clone.name]);
      else await clone.git(["remote", "update", "--prune"]);
      await source.git(["push", "--quiet", "--mirror", `../${pushedByGit.name}`]);

      const { skipped } = await syncFrom(repo, source.url());
      expect(skipped).toEqual([]);
      expect(await namedRefs(repo)).toEqual(await clone.refs());
      const { refused } = await pushTo(repo, pushed.url(), { refs: () => true });
      expect(refused).toEqual([]);
      expect(await pushed.refs()).toEqual(await pushedByGit.refs());
      expect(await pushed.objects()).toEqual(await pushedByGit.objects());
      await pushed.git(["fsck", "--strict", "--no-dangling"]);
    }
  });
});
