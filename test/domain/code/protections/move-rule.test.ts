import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { ANONYMOUS } from "../../../../src/auth/actor.ts";
import { branchProtections } from "../../../../src/db/schema/index.ts";
import { moveRule } from "../../../../src/domain/code/protections/move-rule.ts";
import { findVisibleRepository } from "../../../../src/domain/repos/repository/find-repository.ts";
import { forbidden } from "../../../../src/lib/failure.ts";
import { db } from "../../../support/db.ts";
import { make } from "../../../support/make.ts";
import { makeRule } from "../../../support/protections.ts";
import { systemCtx } from "../../../support/system.ts";

/**
 * Moves a rule for `old` to `new`, and lists the rules while the branch is renamed and afterwards.
 */
async function move(rename: () => Promise<void>, ...others: string[]) {
  const owner = await make.user();
  const { id: repoId, name } = await make.repo(owner);
  const rule = await makeRule({ id: repoId }, { name: "old", settings: { requiredApprovals: 2 } });
  for (const other of others) await makeRule({ id: repoId }, { name: other });
  const ctx = { ...systemCtx({}, 5000), actor: { ...ANONYMOUS, user: owner } };
  const repo = await findVisibleRepository(ctx, owner.name, name);
  if (!repo) throw new Error("the repository is not visible");
  const list = async () =>
    (
      await db
        .select()
        .from(branchProtections)
        .where(eq(branchProtections.repoId, repoId))
        .orderBy(branchProtections.id)
    ).map((each) => ({
      name: each.name,
      isSame: each.id === rule.id,
      approvals: each.settings.requiredApprovals,
    }));
  let during: Awaited<ReturnType<typeof list>> = [];
  const moved = moveRule(ctx, repo, rule, "new", async () => {
    during = await list();
    await rename();
  });
  const error = await moved.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return { error, during, after: await list() };
}

const OLD = { name: "old", isSame: true, approvals: 2 };
const COPY = { name: "new", isSame: false, approvals: 2 };

describe("moveRule", () => {
  it("protects both names while the branch is renamed, and keeps the rule", async () => {
    const { error, during, after } = await move(async () => {});
    expect(error).toBeUndefined();
    expect(during).toEqual([OLD, COPY]);
    expect(after).toEqual([{ ...OLD, name: "new" }]);
  });

  it("leaves the rule where it is if the branch is not renamed", async () => {
    const { error, after } = await move(async () => {
      throw forbidden("no");
    });
    expect(error).toMatchObject({ message: "no" });
    expect(after).toEqual([OLD]);
  });

  // The refs may have been updated: without the copy the branch would be free.
  it("keeps both names protected if it is unknown whether the branch is renamed", async () => {
    const { error, after } = await move(async () => {
      throw new Error("the connection was lost");
    });
    expect(error).toMatchObject({ message: "the connection was lost" });
    expect(after).toEqual([OLD, COPY]);
  });

  it("leaves a rule alone that the new name has already", async () => {
    const { during, after } = await move(async () => {}, "new");
    expect(during).toEqual([OLD, { name: "new", isSame: false, approvals: 0 }]);
    expect(after).toEqual(during);
  });
});
