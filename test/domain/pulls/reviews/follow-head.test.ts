import { asc, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { ANONYMOUS } from "../../../../src/auth/actor.ts";
import { codeComments, reviews, timelineEntries } from "../../../../src/db/schema/index.ts";
import { findPull } from "../../../../src/domain/pulls/pull/find-pull.ts";
import { createReview } from "../../../../src/domain/pulls/code-review/submit-review.ts";
import { findVisibleRepository } from "../../../../src/domain/repos/repository/find-repository.ts";
import { History } from "../../../support/commits.ts";
import { drawConsequences, pushQuietly } from "../../../support/consequences.ts";
import { db } from "../../../support/db.ts";
import { make, type TestRepo, type TestUser } from "../../../support/make.ts";
import { makeCodeComment, makePull, makeReview, type TestPull } from "../../../support/pulls.ts";
import { makeEmptyPack, storeRefs } from "../../../support/push.ts";
import { systemCtx } from "../../../support/system.ts";
import { call } from "../../../support/call.ts";

const text = (...lines: string[]): string => lines.map((line) => `${line}\n`).join("");

/** A pull request whose head has a file with four lines, and what pushes another head. */
async function makeFollowed() {
  const owner = await make.user();
  const repo = await make.repo(owner);
  const history = new History();
  const old = { "old.txt": text("a", "b", "c") };
  const base = history.commit({ files: old });
  const files = { ...old, "f.txt": text("one", "two", "three", "four"), "g.txt": "g\n" };
  const head = history.commit({ files, parents: [base] });
  const pull = await makePull(repo, {
    headOid: head,
    mergeBaseOid: base,
    checkedBaseOid: base,
    checkedHeadOid: head,
  });
  const refs = [
    { ref: "refs/heads/main", oid: base },
    { ref: "refs/heads/topic", oid: head },
    { ref: `refs/pull/${pull.number}/head`, oid: head },
  ];
  await storeRefs(repo, refs, history.build());
  const push = async (changed: Readonly<Record<string, string>>) => {
    const next = new History();
    const oid = next.commit({ files: { ...old, ...changed }, parents: [head], message: "Next\n" });
    await pushQuietly(
      owner,
      repo,
      [{ ref: "refs/heads/topic", old: head, new: oid }],
      next.build(),
    );
    await drawConsequences();
    return oid;
  };
  return { owner, repo, pull, base, head, files, push };
}

async function protect(owner: TestUser, { owner: name, name: repo }: TestRepo, settings: object) {
  const json = { rule_name: "main", enable_push: true, ...settings };
  const path = `/repos/${name}/${repo}/branch_protections`;
  expect((await call("POST", path, { as: owner, json })).status).toBe(201);
}

const placesOf = async (pull: TestPull) => {
  const rows = await db
    .select()
    .from(codeComments)
    .where(eq(codeComments.issueId, pull.id))
    .orderBy(asc(codeComments.entryId));
  return rows.map(({ line, startLine, isOutdated, commitOid }) => [
    startLine,
    line,
    isOutdated,
    commitOid,
  ]);
};

describe("a push to the head", () => {
  it("takes comments along to where their lines are, and outdates the others", async () => {
    const { pull, head, push } = await makeFollowed();
    const review = await makeReview(pull, { state: "comment" });
    const at = (fields: Parameters<typeof makeCodeComment>[2]) =>
      makeCodeComment(pull, review, { path: "f.txt", ...fields });
    await at({ line: 4, startLine: 3 });
    await at({ line: 2, startLine: 2 });
    await at({ line: 2, startLine: 1 });
    await at({ line: 1, startLine: 1, path: "g.txt" });
    await at({ line: 0, startLine: 0 });
    await at({ line: 9, startLine: 9 });
    const next = await push({ "f.txt": text("zero", "one", "TWO", "three", "four") });
    expect(await placesOf(pull)).toEqual([
      [4, 5, false, next],
      [2, 2, true, head],
      [1, 2, true, head],
      [1, 1, true, head],
      [0, 0, false, head],
      [9, 9, true, head],
    ]);
  });

  it("takes comments along to another name of their file", async () => {
    const { pull, head, push } = await makeFollowed();
    const review = await makeReview(pull, { state: "comment" });
    const at = (fields: Parameters<typeof makeCodeComment>[2]) =>
      makeCodeComment(pull, review, { path: "f.txt", ...fields });
    await at({ line: 3, startLine: 2 });
    await at({ line: 4, startLine: 4 });
    await at({ line: 1, startLine: 1, path: "g.txt" });
    // Of the files that are gone, one is found under another name by its content.
    const next = await push({ "new/name.txt": text("zero", "one", "two", "three", "4") });
    expect(await placesOf(pull)).toEqual([
      [3, 4, false, next],
      [4, 4, true, head],
      [1, 1, true, head],
    ]);
    const rows = await db
      .select()
      .from(codeComments)
      .where(eq(codeComments.issueId, pull.id))
      .orderBy(asc(codeComments.entryId));
    expect(rows.map(({ path }) => path)).toEqual(["new/name.txt", "f.txt", "g.txt"]);
  });

  it("leaves comments on the old side where they are while the merge base stays", async () => {
    const { pull, base, files, push } = await makeFollowed();
    const review = await makeReview(pull, { state: "comment" });
    const fields = { path: "old.txt", line: 2, startLine: 2, isOldSide: true, commitOid: base };
    await makeCodeComment(pull, review, fields);
    await push({ ...files, "g.txt": "another\n" });
    expect(await placesOf(pull)).toEqual([[2, 2, false, base]]);
  });

  it("makes reviews stale, once, and a push back makes them fresh again", async () => {
    const { owner, repo, pull, head, files, push } = await makeFollowed();
    await makeReview(pull);
    await makeReview(pull, { state: "request_review", commitOid: "" });
    const staleOf = async () =>
      (await db.select().from(reviews).where(eq(reviews.issueId, pull.id))).map(
        ({ isStale, isDismissed }) => [isStale, isDismissed],
      );
    const next = await push({ ...files, "g.txt": "another\n" });
    expect(await staleOf()).toEqual([
      [true, false],
      [false, false],
    ]);
    const back = { ref: "refs/heads/topic", old: next, new: head };
    await pushQuietly(owner, repo, [back], makeEmptyPack());
    await drawConsequences();
    expect(await staleOf()).toEqual([
      [false, false],
      [false, false],
    ]);
  });

  // As after an update of the branch: who approved the change would be asked again for nothing.
  it.each(["merge", "rebase"])(
    "leaves reviews as they are where it only takes in the base by %s, and then follows it",
    async (style) => {
      const { owner, repo, pull, base, head, files } = await makeFollowed();
      await protect(owner, repo, { dismiss_stale_approvals: true });
      await makeReview(pull);
      const history = new History();
      const changed = { "old.txt": text("a", "b", "c", "d") };
      const newBase = history.commit({ files: changed, parents: [base], message: "Base\n" });
      const parents = style === "merge" ? [head, newBase] : [newBase];
      const updated = { ...files, ...changed };
      const newHead = history.commit({ files: updated, parents, message: "Update\n" });
      const more = { ...updated, "g.txt": "more\n" };
      const later = new History();
      const next = later.commit({ files: more, parents: [newHead], message: "More\n" });
      const push = async (
        pack: Uint8Array,
        ...updates: [ref: string, old: string, to: string][]
      ) => {
        const commands = updates.map(([ref, old, to]) => ({ ref, old, new: to }));
        await pushQuietly(owner, repo, commands, pack);
        await drawConsequences();
        const [row] = await db.select().from(reviews).where(eq(reviews.issueId, pull.id));
        return { isStale: row?.isStale, isDismissed: row?.isDismissed };
      };
      const [main, topic] = ["refs/heads/main", "refs/heads/topic"];
      expect(await push(history.build(), [main, base, newBase], [topic, head, newHead])).toEqual({
        isStale: false,
        isDismissed: false,
      });
      expect(await push(later.build(), [topic, newHead, next])).toEqual({
        isStale: true,
        isDismissed: true,
      });
    },
  );

  it("dismisses an approval that was sent for the former head meanwhile", async () => {
    const { owner, repo, pull, files, push } = await makeFollowed();
    await protect(owner, repo, { dismiss_stale_approvals: true });
    const ctx = { ...systemCtx({}, Date.now()), actor: { ...ANONYMOUS, user: await make.user() } };
    const context = await findVisibleRepository(ctx, repo.owner, repo.name);
    if (!context) throw new Error("the repository is not visible");
    const seen = await findPull(ctx, context, pull.number);
    await push({ ...files, "g.txt": "another\n" });
    const review = { event: "APPROVED", state: "approved", body: "", comments: [] } as const;
    expect((await createReview(ctx, seen, review)).row).toMatchObject({
      isStale: true,
      isDismissed: true,
    });
  });

  it("dismisses approvals where the rule of the base wants that", async () => {
    const { owner, repo, pull, files, push } = await makeFollowed();
    await protect(owner, repo, { dismiss_stale_approvals: true });
    await makeReview(pull);
    await makeReview(pull, { state: "request_changes" });
    await push({ ...files, "g.txt": "another\n" });
    const rows = await db
      .select()
      .from(reviews)
      .where(eq(reviews.issueId, pull.id))
      .orderBy(asc(reviews.id));
    expect(rows.map(({ isStale, isDismissed }) => [isStale, isDismissed])).toEqual([
      [true, true],
      [true, false],
    ]);
    const entries = await db
      .select()
      .from(timelineEntries)
      .where(eq(timelineEntries.issueId, pull.id));
    expect(entries.filter(({ kind }) => kind === "dismiss_review").length).toBe(1);
  });
});
