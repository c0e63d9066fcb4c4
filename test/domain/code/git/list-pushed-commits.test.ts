import { describe, expect, it } from "vitest";

import { listPushedCommits } from "../../../../src/domain/code/git/list-pushed-commits.ts";
import { CommitGraph } from "../../../../src/git/walk/commit-graph.ts";
import { OpenRepository } from "../../../../src/storage/open-repository.ts";
import { History } from "../../../support/commits.ts";
import { git } from "../../../support/git.ts";
import { make } from "../../../support/make.ts";
import { storePush } from "../../../support/push.ts";

const COMMITS = 300;

describe("listPushedCommits", () => {
  it("counts the commits, and accounts for the memory of the commit graph", async () => {
    const repo = await make.repo(await make.user());
    const history = new History();
    let tip = history.commit();
    for (let at = 1; at < COMMITS; at++) tip = history.commit({ parents: [tip] });
    await storePush(repo, "refs/heads/main", tip, history.build());

    const stored = git.repository(repo);
    const { catalog, results } = await stored.open(await stored.snapshot());
    const reservedBytes: number[] = [];
    const metered = new OpenRepository(
      catalog.packs,
      results,
      () => (bytes) => void reservedBytes.push(bytes),
    );
    const updates = [{ ref: "refs/heads/main", oldOid: "1".repeat(40), newOid: tip }];
    const origin = { packNumber: 0, earlierHeads: [], head: null };
    const pushed = await listPushedCommits(metered, origin, updates);
    expect(pushed.get("refs/heads/main")).toMatchObject({ commitCount: COMMITS });
    expect(reservedBytes).toContain(new CommitGraph(catalog).heldBytes);
  });

  /** Whether the push of a history that continues `main` is known to refer to no issue. */
  async function isWithoutReferences(
    build: (history: History, base: string, side: string) => string,
  ) {
    const repo = await make.repo(await make.user());
    const before = new History();
    const base = before.commit({ message: "start\n" });
    const side = before.commit({ message: "on a branch\n", parents: [base] });
    await storePush(repo, "refs/heads/side", side, before.build());
    const history = new History();
    const tip = build(history, base, side);
    const pack = history.build();
    await storePush(repo, "refs/heads/next", tip, pack);
    const stored = git.repository(repo);
    const repository = await stored.open(await stored.snapshot());
    const updates = [{ ref: "refs/heads/main", oldOid: base, newOid: tip }];
    const packNumber = repository.catalog.packs.length - 1;
    const origin = { packNumber, earlierHeads: [base, side], head: null };
    const pushed = await listPushedCommits(repository, origin, updates);
    return pushed.get("refs/heads/main")?.hasNoReferences === true;
  }

  it.each([
    ["says nothing of one", "A change: 100 %, at last!\n", true],
    ["names one", "fixes #12\n", false],
    ["names a pull request", "see !3\n", false],
    ["has the address of one", "see http://x/o/r/issues/3\n", false],
    ["names one behind what is stored of its message", `${"x ".repeat(800)} #1\n`, false],
  ])("knows that no issue is referred to by a commit that %s", async (_, message, expected) => {
    const found = await isWithoutReferences((history, base) =>
      history.commit({ message, parents: [base] }),
    );
    expect(found).toBe(expected);
  });

  it("does not know it of more commits than it lists, nor of those that the repository had", async () => {
    const many = await isWithoutReferences((history, base) => {
      let tip = base;
      for (let at = 0; at < 6; at++) {
        tip = history.commit({ message: `${at}\n`, files: { a: `${at}` }, parents: [tip] });
      }
      return tip;
    });
    const merged = await isWithoutReferences((history, base, side) =>
      history.commit({ message: "merge\n", parents: [base, side] }),
    );
    expect([many, merged]).toEqual([false, false]);
  });
});
