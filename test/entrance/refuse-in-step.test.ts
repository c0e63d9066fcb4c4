import { eq } from "drizzle-orm";
import { expect, it } from "vitest";

import {
  events,
  issues,
  labels,
  milestones,
  type ProjectPart,
  reactions,
  releases,
  repositories,
  timelineEntries,
} from "../../src/db/schema/index.ts";
import { call } from "../support/call.ts";
import { db } from "../support/db.ts";
import {
  advance,
  DataReader,
  makeForeignData,
  makeForeignGit,
  makeImport,
} from "../support/imports.ts";
import { make } from "../support/make.ts";
import { makePullMirror } from "../support/mirror-rows.ts";

/** A request that changes something: its part, method, path below the repository, and body. */
type Change = readonly [part: ProjectPart, method: string, path: string, json?: object];

/**
 * A mirror that keeps one part in step, after a whole import, and requests that change each of its
 * parts.
 */
async function makeMirrorOf(part: ProjectPart) {
  const owner = await make.user();
  const git = await makeForeignGit();
  const { repo, importId } = await makeImport(owner, git.remote);
  await advance(importId, git.remote, new DataReader(makeForeignData(git)));
  await makePullMirror(repo, { parts: [part], address: git.remote.url() });
  await db.update(repositories).set({ hasPullRequests: true }).where(eq(repositories.id, repo.id));
  const path = `/repos/${owner.name}/${repo.name}`;
  const get = async (rest: string) => (await call("GET", `${path}${rest}`, { as: owner })).body;
  const [label] = await get("/labels");
  const [milestone] = await get("/milestones");
  const [onIssue] = await get("/issues/1/comments");
  const [onPull] = await get("/issues/21/comments");
  const release = await get("/releases/tags/v1");
  const threads = (of: "issues" | "pulls", number: number, comment: number): Change[] => [
    [of, "PATCH", `/issues/${number}`, { title: "Mine" }],
    [of, "POST", `/issues/${number}/comments`, { body: "Mine" }],
    [of, "PATCH", `/issues/comments/${comment}`, { body: "Mine" }],
    [of, "POST", `/issues/comments/${comment}/reactions`, { content: "heart" }],
    [of, "DELETE", `/issues/comments/${comment}`],
    [of, "POST", `/issues/${number}/labels`, { labels: [label.id] }],
    [of, "PUT", `/issues/${number}/labels`, { labels: [] }],
    [of, "DELETE", `/issues/${number}/labels`],
    [of, "POST", `/issues/${number}/deadline`, { due_date: "2030-01-01T00:00:00Z" }],
    [of, "POST", `/issues/${number}/reactions`, { content: "heart" }],
    [of, "PUT", `/issues/${number}/lock`, {}],
    [of, "POST", `/issues/${number}/pin`],
    [of, "POST", `/issues/${number}/stopwatch/start`],
    [of, "POST", `/issues/${number}/times`, { time: 60 }],
  ];
  const changes: Change[] = [
    ["issues", "POST", "/issues", { title: "Mine" }],
    ...threads("issues", 1, onIssue.id),
    ...threads("pulls", 21, onPull.id),
    ["pulls", "PATCH", "/pulls/21", { title: "Mine" }],
    ["pulls", "POST", "/pulls/21/reviews", { event: "COMMENT", body: "Mine" }],
    ["pulls", "POST", "/pulls/21/requested_reviewers", { reviewers: [] }],
    ["pulls", "POST", "/pulls/21/merge", { Do: "merge" }],
    ["pulls", "POST", "/pulls/21/update"],
    ["pulls", "POST", "/pulls", { head: "feature", base: "main", title: "Mine" }],
    ["labels", "POST", "/labels", { name: "mine", color: "#ffffff" }],
    ["labels", "PATCH", `/labels/${label.id}`, { name: "other" }],
    ["labels", "DELETE", `/labels/${label.id}`],
    ["milestones", "POST", "/milestones", { title: "Mine" }],
    ["milestones", "PATCH", `/milestones/${milestone.id}`, { title: "Other" }],
    ["milestones", "DELETE", `/milestones/${milestone.id}`],
    ["releases", "POST", "/releases", { tag_name: "v1" }],
    ["releases", "PATCH", `/releases/${release.id}`, { name: "Mine" }],
    ["releases", "DELETE", `/releases/${release.id}/assets/${release.assets[0].id}`],
    ["releases", "DELETE", `/releases/${release.id}`],
    ["issues", "DELETE", "/issues/12"],
  ];
  return { owner, repo, path, changes };
}

/** Everything that the changes write. */
const contentOf = (repoId: number) =>
  Promise.all(
    [issues, labels, milestones, releases, timelineEntries, events].map((table) =>
      db.select().from(table).where(eq(table.repoId, repoId)).orderBy(table.id),
    ),
  );

/** What a mirror refuses for the sake of its git, or wants to be there first. */
const OTHERWISE_REFUSED = /merge|update$|\/pulls$|requested_reviewers|\/releases$/;

it.each<ProjectPart>(["issues", "pulls", "labels", "milestones", "releases"])(
  "refuses each change of %s that are kept in step, and of nothing else",
  async (part) => {
    const { owner, repo, path, changes } = await makeMirrorOf(part);
    const before = await contentOf(repo.id);
    const reacted = await db.select().from(reactions);
    const send = ([, method, rest, json]: Change) =>
      call(method, `${path}${rest}`, { as: owner, ...(json && { json }) });

    const refused = changes.filter(([of]) => of === part);
    for (const change of refused) {
      expect([change, await send(change)]).toMatchObject([
        change,
        { status: 423, body: { message: expect.stringContaining(`its ${part} are read-only`) } },
      ]);
    }
    expect(refused.length).toBeGreaterThan(2);
    expect(await contentOf(repo.id)).toEqual(before);
    expect(await db.select().from(reactions)).toEqual(reacted);

    for (const change of changes.filter(([of]) => of !== part)) {
      const { status, body } = await send(change);
      expect(status, JSON.stringify([change, body])).not.toBe(423);
      const statusMax = OTHERWISE_REFUSED.test(change[2]) ? 499 : 299;
      expect(status, JSON.stringify([change, body])).toBeLessThanOrEqual(statusMax);
    }
    expect(await contentOf(repo.id)).not.toEqual(before);
  },
);

it("lets everybody follow what is read-only", async () => {
  const { owner, path } = await makeMirrorOf("issues");
  for (const method of ["DELETE", "PUT"]) {
    const answer = await call(method, `${path}/issues/1/subscriptions/${owner.name}`, {
      as: owner,
    });
    expect(answer.status).toBeLessThan(300);
  }
});

// SECURITY: the route decides, not the spelling of the path.
it.each(["/issues/c%6Fmments/%d", "/issues//comments/%d", "/%69ssues/comments/%d"])(
  "refuses it by the path %s as well",
  async (spelling) => {
    const { owner, repo, path, changes } = await makeMirrorOf("issues");
    const before = await contentOf(repo.id);
    const [id] = changes.flatMap(
      ([, , rest]) => /^\/issues\/comments\/(\d+)$/.exec(rest)?.[1] ?? [],
    );
    const url = `${path}${spelling.replace("%d", String(id))}`;
    const { status } = await call("PATCH", url, { as: owner, json: { body: "Mine" } });
    expect([423, 404, 308]).toContain(status);
    expect(await contentOf(repo.id)).toEqual(before);
  },
);
