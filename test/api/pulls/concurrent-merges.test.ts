import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { pulls } from "../../../src/db/schema/index.ts";
import { call } from "../../support/call.ts";
import { History } from "../../support/commits.ts";
import { db } from "../../support/db.ts";
import { eventsOf } from "../../support/events.ts";
import { make } from "../../support/make.ts";
import { listHistory } from "../../support/merges.ts";
import { storeRefs } from "../../support/push.ts";
import { caseCount } from "../../support/sample.ts";

/** Pull requests that are opened, reviewed and merged at once. */
const COUNT = caseCount(10, 30);

const numbers = Array.from({ length: COUNT }, (_, at) => at);

/** A repository with a branch for each pull request, each of which adds a file. */
async function makeBranches() {
  const owner = await make.user();
  const repo = await make.repo(owner);
  const history = new History();
  const root = history.commit({ files: { a: "a\n" } });
  const branches = numbers.map((at) => ({
    ref: `refs/heads/b${at}`,
    oid: history.commit({
      files: { a: "a\n", [`file${at}`]: `${at}\n` },
      parents: [root],
      message: `Add ${at}\n`,
    }),
  }));
  await storeRefs(repo, [{ ref: "refs/heads/main", oid: root }, ...branches], history.build());
  return { owner, repo, root, own: `/repos/${repo.owner}/${repo.name}` };
}

describe(
  "pull requests that are opened, reviewed and merged at once",
  { timeout: 1_200_000 },
  () => {
    it.each([
      ["squash", true],
      ["rebase", true],
      ["merge", false],
    ])("by %s are each merged once, and none loses a commit", async (style, isLinear) => {
      const { owner, repo, own, root } = await makeBranches();
      const reviewer = await make.user();
      const made = await Promise.all(
        numbers.map(async (at) => {
          const json = { head: `b${at}`, base: "main", title: `Pull ${at}` };
          const { status, body } = await call("POST", `${own}/pulls`, { as: owner, json });
          expect(status).toBe(201);
          const review = { event: "APPROVED", body: "Good" };
          const path = `${own}/pulls/${body.number}`;
          const reviewed = await call("POST", `${path}/reviews`, { as: reviewer, json: review });
          expect(reviewed.status).toBe(200);
          return path;
        }),
      );
      await Promise.all(
        made.map(async (path) => {
          // One request is enough: those that come later wait for those before.
          const answer = await call("POST", `${path}/merge`, { as: owner, json: { Do: style } });
          expect(answer).toMatchObject({ status: 200 });
        }),
      );
      const rows = await db.select().from(pulls).where(eq(pulls.repoId, repo.id));
      expect(rows.filter(({ mergedAt }) => mergedAt !== null)).toHaveLength(COUNT);
      expect(new Set(rows.map(({ mergeCommitOid }) => mergeCommitOid)).size).toBe(COUNT);
      const recorded = (await eventsOf(repo)).filter(({ type }) => type === "pull.merged");
      expect(recorded).toHaveLength(COUNT);
      const { body: files } = await call("GET", `${own}/contents?ref=main`, { as: owner });
      const names = (files as { name: string }[]).map(({ name }) => name);
      expect(names.toSorted()).toEqual(["a", ...numbers.map((at) => `file${at}`)].toSorted());
      const { body: branch } = await call("GET", `${own}/branches/main`, { as: owner });
      const [tip] = await listHistory({ owner, repo });
      expect(tip?.oid).toBe(branch.commit.id);
      // Along the first parents, the base has one commit for each pull request.
      const path = `${own}/commits?sha=main&stat=false&limit=50`;
      const pages = await Promise.all(
        [1, 2, 3, 4, 5].map((page) => call("GET", `${path}&page=${page}`, { as: owner })),
      );
      const commits = pages.flatMap(
        ({ body }) => body as { sha: string; parents: { sha: string }[] }[],
      );
      const byOid = new Map(commits.map((commit) => [commit.sha, commit.parents]));
      let length = 0;
      for (let oid = branch.commit.id as string; oid !== root; length++) {
        const parents = byOid.get(oid) ?? [];
        expect(parents).toHaveLength(isLinear ? 1 : 2);
        oid = parents[0]?.sha ?? root;
      }
      expect(length).toBe(COUNT);
    });
  },
);
