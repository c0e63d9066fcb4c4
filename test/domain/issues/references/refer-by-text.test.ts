import { asc, eq, sql } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  blocks,
  issueMentions,
  issues,
  reviews,
  timelineEntries,
  type Issue,
} from "../../../../src/db/schema/index.ts";
import { findReferences } from "../../../../src/domain/issues/references/find-references.ts";
import { hasReference } from "../../../../src/domain/issues/references/refer-by-text.ts";
import type { Event } from "../../../../src/events/event.ts";
import { record } from "../../../../src/events/record.ts";
import { only } from "../../../../src/lib/only.ts";
import { ANONYMOUS } from "../../../../src/auth/actor.ts";
import { drawConsequences, silentBindings } from "../../../support/consequences.ts";
import { db } from "../../../support/db.ts";
import { failEveryCall, failing } from "../../../support/faults.ts";
import { makeComment, makeIssue } from "../../../support/issues.ts";
import { make, type TestUser } from "../../../support/make.ts";
import { makeCodeComment, makePull, makeReview } from "../../../support/pulls.ts";
import { systemCtx } from "../../../support/system.ts";

const ROOT = "https://forge.example";

describe("the condition for texts that may refer to something", () => {
  it.each([
    ["see #12", true],
    ["see !12", true],
    ["other/repo#12.", true],
    [`${ROOT}/other/repo/issues/12`, true],
    [`<${ROOT}/other/repo/pulls/12>`, true],
    ["ask @somebody", true],
    ["ask @org/team", true],
    ["behind a NUL\0: #12", true],
    ["", false],
    ["12 % of 100\nand more", false],
  ])("holds for each text in which references are found: %j", async (text, expected) => {
    const found = findReferences(text, { isMarkdown: true, rootUrls: [ROOT] });
    const count = found.issues.length + found.users.length + found.teams.length;
    const row = await db.get<{ holds: number }>(sql`select ${hasReference(sql`${text}`)} as holds`);
    expect([count > 0, (row?.holds ?? 0) > 0]).toEqual([expected, expected]);
  });
});

async function makeWorld() {
  const owner = await make.user();
  const repo = await make.repo(owner);
  const [target, other] = [await makeIssue(repo), await makeIssue(repo)];
  return { owner, repo, target, other };
}

/** Records an event about an issue by its author, and draws its consequences. */
async function recordEvent(
  by: TestUser,
  issue: Issue,
  type: "issue.opened" | "issue.edited" | "comment.created" | "comment.edited" | "review.submitted",
  commentId?: number,
  bindings?: Partial<Env>,
  fields: object = {},
): Promise<void> {
  const ctx = systemCtx(silentBindings(), Date.now(), { ROOT_URL: ROOT });
  const acting = { ...ctx, actor: { ...ANONYMOUS, user: by } };
  const { id: issueId, repoId, number, isPull } = issue;
  const subject = { repoId, ownerId: by.id, issueId, number, isPull, from: "" };
  const event = { type, ...subject, ...(commentId !== undefined && { commentId }), ...fields };
  await record(acting, event as unknown as Event);
  await drawConsequences(bindings).catch(() => undefined);
}

const entriesOf = async ({ id }: Pick<Issue, "id">) =>
  (
    await db
      .select()
      .from(timelineEntries)
      .where(eq(timelineEntries.issueId, id))
      .orderBy(asc(timelineEntries.id))
  ).filter(({ kind }) => kind !== "comment");

const mentionedIn = async ({ id }: Issue): Promise<number[]> =>
  (
    await db
      .select()
      .from(issueMentions)
      .where(eq(issueMentions.issueId, id))
      .orderBy(asc(issueMentions.userId))
  ).map(({ userId }) => userId);

const edit = (issue: Issue, fields: Partial<Issue>) =>
  db.update(issues).set(fields).where(eq(issues.id, issue.id));

describe("a reference in an issue", () => {
  it("is told in the timeline of the other one, once, and follows edits", async () => {
    const { owner, repo, target, other } = await makeWorld();
    const source = await makeIssue(repo, { body: `see #${target.number} and #${target.number}` });
    await recordEvent(owner, source, "issue.opened");
    await recordEvent(owner, source, "issue.edited");
    const entry = only(await entriesOf(target));
    expect(entry).toMatchObject({
      kind: "issue_ref",
      posterId: owner.id,
      otherIssueId: source.id,
      otherEntryId: null,
      refAction: "none",
    });
    expect(await entriesOf(source)).toEqual([]);

    await edit(source, { body: `see #${other.number}`, title: `about #${target.number}` });
    await recordEvent(owner, source, "issue.edited");
    expect((await entriesOf(target)).map(({ id }) => id)).toEqual([entry.id]);
    expect(await entriesOf(other)).toMatchObject([{ kind: "issue_ref" }]);

    await edit(source, { body: "nothing", title: "nothing" });
    await recordEvent(owner, source, "issue.edited");
    expect([await entriesOf(target), await entriesOf(other)]).toEqual([[], []]);
  });

  it("closes nothing, and is found in text but not in code", async () => {
    const { owner, repo, target, other } = await makeWorld();
    const body = `fixes #${target.number} \`#${other.number}\``;
    const source = await makeIssue(repo, { body });
    await recordEvent(owner, source, "issue.opened");
    expect(await entriesOf(target)).toMatchObject([{ kind: "issue_ref", refAction: "none" }]);
    expect(await entriesOf(other)).toEqual([]);
    const [stored] = await db.select().from(issues).where(eq(issues.id, target.id));
    expect(stored?.isClosed).toBe(false);
  });

  it("to itself is none", async () => {
    const { owner, target } = await makeWorld();
    await edit(target, { body: `see #${target.number}` });
    await recordEvent(owner, target, "issue.opened");
    expect(await entriesOf(target)).toEqual([]);
  });

  it("of a pull request keeps what it will do, for those who may do it", async () => {
    const { owner, repo, target, other } = await makeWorld();
    const title = `closes #${target.number}`;
    const body = `reopens #${other.number}`;
    const pull = await makeIssue(repo, { isPull: true, title, body });
    await recordEvent(owner, pull, "issue.opened");
    expect(await entriesOf(target)).toMatchObject([{ kind: "pull_ref", refAction: "closes" }]);
    expect(await entriesOf(other)).toMatchObject([{ kind: "pull_ref", refAction: "reopens" }]);
    await edit(pull, { title: `about #${target.number}` });
    await recordEvent(owner, pull, "issue.edited");
    expect(await entriesOf(target)).toMatchObject([{ kind: "pull_ref", refAction: "none" }]);

    const stranger = await make.user();
    const theirs = await makeIssue(repo, { isPull: true, title, posterId: stranger.id });
    await recordEvent(stranger, theirs, "issue.opened");
    expect((await entriesOf(target)).at(-1)).toMatchObject({ refAction: "none" });
  });
});

describe("a reference in a review", () => {
  it("is told once the review is submitted, of what it says and of its comments on code", async () => {
    const { owner, repo, target, other } = await makeWorld();
    const mentioned = await make.user();
    const pull = await makePull(repo);
    const review = await makeReview(pull, { state: "pending" });
    const said = { kind: "review", reviewId: review.id, body: `see #${target.number}` } as const;
    const text = await makeComment(pull, said);
    const body = `as #${other.number}, @${mentioned.name}`;
    const code = await makeCodeComment(pull, review, {}, { body });
    const submitted = { reviewId: review.id, state: "approved" };
    // SECURITY: a pending review is its author's alone.
    await recordEvent(owner, pull, "review.submitted", undefined, undefined, submitted);
    await recordEvent(owner, pull, "comment.edited", code.id);
    expect([...(await entriesOf(target)), ...(await entriesOf(other))]).toEqual([]);
    expect(await mentionedIn(pull)).toEqual([]);

    await db.update(reviews).set({ state: "approved" }).where(eq(reviews.id, review.id));
    for (let times = 0; times < 2; times++) {
      await recordEvent(owner, pull, "review.submitted", undefined, undefined, submitted);
    }
    const ofPull = { kind: "comment_ref", otherIssueId: pull.id, refAction: "none" };
    expect(await entriesOf(target)).toMatchObject([{ ...ofPull, otherEntryId: text.id }]);
    expect(await entriesOf(other)).toMatchObject([{ ...ofPull, otherEntryId: code.id }]);
    expect(await mentionedIn(pull)).toEqual([mentioned.id]);

    await db
      .update(timelineEntries)
      .set({ body: "nothing" })
      .where(eq(timelineEntries.id, code.id));
    await recordEvent(owner, pull, "comment.edited", code.id);
    expect(await entriesOf(other)).toEqual([]);
    expect(await entriesOf(target)).toHaveLength(1);
  });

  it("is told of each of very many comments, in steps", async () => {
    const { owner, repo, target } = await makeWorld();
    const pull = await makePull(repo);
    const review = await makeReview(pull, { state: "comment" });
    const bodies = Array.from({ length: 45 }, (_, at) => `${at}: #${target.number}`);
    for (const body of bodies) await makeCodeComment(pull, review, {}, { body });
    const submitted = { reviewId: review.id, state: "comment" };
    await recordEvent(owner, pull, "review.submitted", undefined, undefined, submitted);
    expect(await entriesOf(target)).toHaveLength(45);
  });
});

describe("a reference in a comment", () => {
  it("names the comment, follows its edits, and goes with it", async () => {
    const { owner, target, other } = await makeWorld();
    const url = `${ROOT}/${owner.name}`;
    const comment = await makeComment(other, { body: `fixes #${target.number}, ${url}` });
    await recordEvent(owner, other, "comment.created", comment.id);
    await recordEvent(owner, other, "comment.edited", comment.id);
    expect(await entriesOf(target)).toMatchObject([
      { kind: "comment_ref", otherIssueId: other.id, otherEntryId: comment.id, refAction: "none" },
    ]);
    const second = await makeComment(other, { body: `#${target.number} again` });
    await recordEvent(owner, other, "comment.created", second.id);
    expect(await entriesOf(target)).toHaveLength(2);

    await db
      .update(timelineEntries)
      .set({ body: "nothing" })
      .where(eq(timelineEntries.id, comment.id));
    await recordEvent(owner, other, "comment.edited", comment.id);
    expect(await entriesOf(target)).toMatchObject([{ otherEntryId: second.id }]);
    await db.delete(timelineEntries).where(eq(timelineEntries.id, second.id));
    expect(await entriesOf(target)).toEqual([]);
    await recordEvent(owner, other, "comment.edited", second.id);
    expect(await entriesOf(target)).toEqual([]);
  });
});

describe("a reference to another repository", () => {
  it("is told only where its author may see the issue and is not blocked", async () => {
    const { owner, repo, target } = await makeWorld();
    const hidden = await make.repo(owner, { isPrivate: true, visibility: "private" });
    const secret = await makeIssue(hidden);
    const stranger = await make.user();
    const own = await make.repo(stranger);
    const body = [
      `${ROOT}/${repo.owner}/${repo.name}/issues/${target.number}`,
      `${hidden.owner}/${hidden.name}#${secret.number}`,
      `${repo.owner}/${repo.name}#999`,
    ].join(" ");
    const source = await makeIssue(own, { body });
    await recordEvent(stranger, source, "issue.opened");
    expect(await entriesOf(target)).toMatchObject([{ otherIssueId: source.id }]);
    expect(await entriesOf(secret)).toEqual([]);

    const row = { blockerId: owner.id, blockedId: stranger.id, note: "", createdAt: 1 };
    await db.insert(blocks).values(row);
    const second = await makeIssue(own, { body });
    await recordEvent(stranger, second, "issue.opened");
    expect(await entriesOf(target)).toHaveLength(1);
  });

  it("stays when somebody edits the text who may not see the issue", async () => {
    const { owner, repo, other } = await makeWorld();
    const hidden = await make.repo(owner, { isPrivate: true, visibility: "private" });
    const secret = await makeIssue(hidden);
    const name = `${hidden.owner}/${hidden.name}#${secret.number}`;
    const source = await makeIssue(repo, { body: name });
    await recordEvent(owner, source, "issue.opened");
    await edit(source, { body: `${name} and #${other.number}` });
    await recordEvent(await make.user(), source, "issue.edited");
    expect(await entriesOf(secret)).toHaveLength(1);
    expect(await entriesOf(other)).toHaveLength(1);
  });
});

describe("a mention", () => {
  it("is stored for accounts that may see the issue, and by teams of the owner", async () => {
    const [owner, member, reader] = [await make.user(), await make.user(), await make.user()];
    const org = await make.org([owner]);
    const team = await make.team(org);
    await make.member(org, team, member);
    const repo = await make.repo(org, { isPrivate: true, visibility: "private" });
    const foreign = await make.org([owner]);
    const foreignTeam = await make.team(foreign);
    await make.member(foreign, foreignTeam, reader);
    const body = `@${owner.name} @${reader.name} @${org.name}/${team.name} @nobody-at-all
      @${foreign.name}/${foreignTeam.name} @${org.name}`;
    const issue = await makeIssue(repo, { body, posterId: owner.id });
    await recordEvent(owner, issue, "issue.opened");
    await recordEvent(owner, issue, "issue.edited");
    expect(await mentionedIn(issue)).toEqual([owner.id, member.id]);
  });

  it("does not reach who blocks its author", async () => {
    const { repo } = await makeWorld();
    const [author, blocker, other] = [await make.user(), await make.user(), await make.user()];
    await db
      .insert(blocks)
      .values({ blockerId: blocker.id, blockedId: author.id, note: "", createdAt: 1 });
    const issue = await makeIssue(repo, { posterId: author.id });
    const comment = await makeComment(issue, {
      body: `@${blocker.name} @${other.name.toUpperCase()}!`,
    });
    await recordEvent(author, issue, "comment.created", comment.id);
    expect(await mentionedIn(issue)).toEqual([other.id]);
  });
});

describe("a text that refers and mentions", { timeout: 180_000 }, () => {
  it("does each once if any call fails, or the Worker dies at it", async () => {
    const callCount = await failEveryCall(async (fault) => {
      const { owner, repo, target, other } = await makeWorld();
      const source = await makeIssue(repo, { body: `#${other.number}` });
      await recordEvent(owner, source, "issue.opened");
      await edit(source, { body: `#${target.number} @${owner.name}` });
      const faults = failing(fault);
      await recordEvent(owner, source, "issue.edited", undefined, faults.bindings);
      await drawConsequences(undefined, Date.now() + 60 * 60 * 1000);
      expect(await entriesOf(target)).toHaveLength(1);
      expect(await entriesOf(other)).toEqual([]);
      expect(await mentionedIn(source)).toEqual([owner.id]);
      return faults;
    });
    expect(callCount).toBeGreaterThan(5);
  });
});
