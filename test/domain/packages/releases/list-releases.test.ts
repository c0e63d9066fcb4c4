import { describe, expect, it } from "vitest";

import { OWNER_PERMISSION } from "../../../../src/db/schema/index.ts";
import { findRelease } from "../../../../src/domain/packages/releases/find-release.ts";
import {
  listReleases,
  type ReleaseFilter,
} from "../../../../src/domain/packages/releases/list-releases.ts";
import { planOf } from "../../../support/full-scans.ts";
import { make } from "../../../support/make.ts";
import { makeRelease } from "../../../support/releases.ts";
import { systemCtx } from "../../../support/system.ts";
import { watchedDatabase } from "../../../support/watched-database.ts";

/** What lists and lookups send to D1, with their plans. */
async function plansOf(run: (ctx: ReturnType<typeof systemCtx>, repo: never) => Promise<unknown>) {
  const owner = await make.user();
  const row = await make.repo(owner);
  await makeRelease(row);
  const sent: string[] = [];
  const DB = watchedDatabase({ onPrepare: (statement) => void sent.push(statement) });
  const repo = { row, owner, permission: OWNER_PERMISSION };
  await run(systemCtx({ DB }, Date.now()), repo as never);
  const plans = await Promise.all(sent.map(planOf));
  return plans.map((steps) => steps.join("\n"));
}

describe("releases", () => {
  // A page of a repository with many releases must not sort them all.
  it.each<ReleaseFilter>([
    {},
    { isDraft: true },
    { isDraft: false },
    { isPrerelease: false },
    { isDraft: false, isPrerelease: false },
    { text: "v" },
  ])("are listed in the order of an index: %j", async (filter) => {
    const [list = "", total = ""] = await plansOf((ctx, repo) =>
      listReleases(ctx, repo, filter, { size: 10, offset: 0 }),
    );
    expect(list).toMatch(
      /SEARCH releases USING (COVERING )?INDEX releases_(of_repository|by_created)/,
    );
    expect(list.replace(/CORRELATED[^]*/, "")).not.toContain("TEMP B-TREE");
    expect(total).toMatch(/SEARCH releases USING (COVERING )?INDEX/);
  });

  it("are found as the latest, among any number of prereleases, by an index", async () => {
    const [latest = ""] = await plansOf((ctx, repo) => findRelease(ctx, repo, "latest"));
    expect(latest).toContain(
      "INDEX releases_by_created (repo_id=? AND is_draft=? AND is_prerelease=?)",
    );
    expect(latest.replace(/CORRELATED[^]*/, "")).not.toContain("TEMP B-TREE");
  });
});
