import { describe, expect, it } from "vitest";

import { listPushedCommits } from "../../../src/domain/git/list-pushed-commits.ts";
import { CommitGraph } from "../../../src/git/walk/commit-graph.ts";
import { OpenRepository } from "../../../src/storage/open-repository.ts";
import { History } from "../../support/commits.ts";
import { git } from "../../support/git.ts";
import { make } from "../../support/make.ts";
import { storePush } from "../../support/push.ts";

const COMMITS = 300;

describe("the commits that a push brought", () => {
  it("are counted with what it takes to walk them", async () => {
    const repo = await make.repo(await make.user());
    const history = new History();
    let tip = history.commit();
    for (let at = 1; at < COMMITS; at++) tip = history.commit({ parents: [tip] });
    await storePush(repo, "refs/heads/main", tip, history.build());

    const stored = git.repository(repo);
    const { catalog, results } = await stored.open(await stored.snapshot());
    const held: number[] = [];
    const gauged = new OpenRepository(
      catalog.packs,
      results,
      () => (bytes) => void held.push(bytes),
    );
    const updates = [{ ref: "refs/heads/main", oldOid: null, newOid: tip, peeledOid: null }];
    const brought = await listPushedCommits(gauged, 0, updates);
    expect(brought.get("refs/heads/main")).toMatchObject({ commitCount: COMMITS });
    expect(held).toContain(new CommitGraph(catalog).heldBytes);
  });
});
