import { asc, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { ANONYMOUS } from "../../../../src/auth/actor.ts";
import { codeComments, pulls, reviews, timelineEntries } from "../../../../src/db/schema/index.ts";
import { runConsequences } from "../../../../src/domain/operations/consequences/run-consequences.ts";
import { askCodeOwners } from "../../../../src/domain/pulls/code-review/ask-code-owners.ts";
import { followHeads } from "../../../../src/domain/pulls/code-review/follow-heads.ts";
import { synchronizePulls } from "../../../../src/domain/pulls/sync/synchronize-pulls.ts";
import type { Consequence } from "../../../../src/events/consequence.ts";
import { record } from "../../../../src/events/record.ts";
import { History } from "../../../support/commits.ts";
import { drawConsequences, pushQuietly, silentBindings } from "../../../support/consequences.ts";
import { db } from "../../../support/db.ts";
import { eventsOf } from "../../../support/events.ts";
import { failCalls, failing } from "../../../support/faults.ts";
import { make } from "../../../support/make.ts";
import { makeRule } from "../../../support/protections.ts";
import { makeCodeComment, makePull, makeReview, type TestPull } from "../../../support/pulls.ts";
import { storeRefs } from "../../../support/push.ts";
import { systemCtx } from "../../../support/system.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const SETTINGS = { ROOT_URL: "https://forge.example" };

/** Draws some consequences with calls that may fail, and again a day later without. */
async function drawTwice(
  consequences: readonly Consequence[],
  bindings: Partial<Env>,
  between: () => Promise<void> = () => Promise.resolve(),
) {
  const now = Date.now() + 1000;
  await runConsequences(systemCtx(bindings, now, SETTINGS), consequences).catch(() => undefined);
  await between();
  await drawConsequences(undefined, now + DAY_MS, consequences);
}

const reviewsOf = async ({ id }: TestPull) =>
  db.select().from(reviews).where(eq(reviews.issueId, id)).orderBy(asc(reviews.id));

const entriesOf = async ({ id }: TestPull, kind: string) =>
  (await db.select().from(timelineEntries).where(eq(timelineEntries.issueId, id))).filter(
    (entry) => entry.kind === kind,
  );

/** A pull request whose base is under a rule, and whose base names an owner of all code. */
async function makeReviewed() {
  // What other tests have left does not come between.
  await drawConsequences();
  const [owner, codeOwner] = [await make.user(), await make.user()];
  const repo = await make.repo(owner);
  await makeRule(repo, { settings: { dismissStaleApprovals: true } });
  const history = new History();
  const files = { CODEOWNERS: `.* @${codeOwner.name}\n` };
  const base = history.commit({ files });
  const head = history.commit({ files: { ...files, f: "one\ntwo\n" }, parents: [base] });
  const pull = await makePull(repo, { headOid: head, mergeBaseOid: base, checkedBaseOid: base });
  const refs = [
    { ref: "refs/heads/main", oid: base },
    { ref: "refs/heads/topic", oid: head },
    { ref: `refs/pull/${pull.number}/head`, oid: head },
  ];
  await storeRefs(repo, refs, history.build());
  const push = async (): Promise<string> => {
    const next = new History();
    const renamed = { ...files, g: "zero\none\ntwo\n" };
    const oid = next.commit({ files: renamed, parents: [head], message: "Next\n" });
    const command = { ref: "refs/heads/topic", old: head, new: oid };
    await pushQuietly(owner, repo, [command], next.build());
    return oid;
  };
  return { owner, codeOwner, repo, pull, push };
}

describe(
  "what follows for reviews, if any call fails or the Worker dies at it",
  { timeout: 600_000 },
  () => {
    it("of a push: it is marked, dismissed and announced once, and comments move once", async () => {
      const calls = await failCalls(async (fault) => {
        const { repo, pull, push } = await makeReviewed();
        const review = await makeReview(pull);
        await makeCodeComment(pull, review, { path: "f", line: 2, startLine: 2 });
        const next = await push();
        const faults = failing(fault);
        await drawTwice([synchronizePulls, followHeads], faults.bindings, async () => {
          // SECURITY: no moment shows the new head with an approval that the rule drops. One
          // statement reads both, since a job that other tests have started may handle the push
          // meanwhile.
          const [row] = await db
            .select({ headOid: pulls.headOid, isDismissed: reviews.isDismissed })
            .from(pulls)
            .innerJoin(reviews, eq(reviews.issueId, pulls.issueId))
            .where(eq(pulls.issueId, pull.id));
          expect(row?.isDismissed).toBe(row?.headOid === next);
        });
        expect(await reviewsOf(pull)).toMatchObject([{ isStale: true, isDismissed: true }]);
        expect(await entriesOf(pull, "dismiss_review")).toHaveLength(1);
        const recorded = (await eventsOf(repo)).map(({ type }) => type);
        expect(recorded.filter((type) => type === "review.dismissed")).toHaveLength(1);
        const comments = await db
          .select()
          .from(codeComments)
          .where(eq(codeComments.issueId, pull.id));
        expect(comments).toMatchObject([
          { path: "g", line: 3, startLine: 3, commitOid: next, isOutdated: false },
        ]);
        return faults;
      });
      expect(calls).toBeGreaterThan(12);
    });

    it("of a new pull request: each owner of the code is asked once", async () => {
      const calls = await failCalls(async (fault) => {
        const { owner, codeOwner, repo, pull } = await makeReviewed();
        const ctx = systemCtx(silentBindings(), Date.now(), SETTINGS);
        const { id: issueId, repoId, number } = pull;
        await record(
          { ...ctx, actor: { ...ANONYMOUS, user: owner } },
          { type: "issue.opened", ownerId: owner.id, repoId, issueId, number, isPull: true },
        );
        const faults = failing(fault);
        await drawTwice([askCodeOwners], faults.bindings);
        expect(await reviewsOf(pull)).toMatchObject([
          { state: "request_review", reviewerId: codeOwner.id },
        ]);
        expect(await entriesOf(pull, "review_request")).toHaveLength(1);
        const recorded = (await eventsOf(repo)).map(({ type }) => type);
        expect(recorded.filter((type) => type === "pull.review_requested")).toHaveLength(1);
        return faults;
      });
      expect(calls).toBeGreaterThan(5);
    });
  },
);
