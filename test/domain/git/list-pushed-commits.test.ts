import { describe, expect, it } from "vitest";

import { listPushedCommits } from "../../../src/domain/git/list-pushed-commits.ts";
import { CommitGraph } from "../../../src/git/walk/commit-graph.ts";
import { OpenRepository } from "../../../src/storage/open-repository.ts";
import { History } from "../../support/commits.ts";
import { git } from "../../support/git.ts";
import { make } from "../../support/make.ts";
import { storePush } from "../../support/push.ts";

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
});
