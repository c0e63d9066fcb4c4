import { describe, expect, it } from "vitest";

import { reactions } from "../../../src/db/schema/index.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { exportBytes, filesOfExport, readJson, readText } from "../../support/exports.ts";
import {
  attachLabel,
  makeComment,
  makeIssue,
  makeLabel,
  makeMilestone,
} from "../../support/issues.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";
import { storeWiki } from "../../support/wikis.ts";
import { makeCodeComment, makePull, makeReview } from "../../support/pulls.ts";

/** Exports a repository, and reads the archive with a strict reader. */
const exported = async (repo: TestRepo, as: TestUser) => filesOfExport(await exportBytes(repo, as));

async function makeRepo(): Promise<[TestRepo, TestUser]> {
  const owner = await make.user();
  return [await make.repo(owner), owner];
}

describe("GET /repos/{owner}/{repo}/export", () => {
  it("has git as a bundle, and the properties of the repository", async () => {
    const [repo, owner] = await makeRepo();
    const path = `/repos/${repo.owner}/${repo.name}`;
    await call("POST", `${path}/contents/a.txt`, { as: owner, json: { content: btoa("a") } });
    const branch = await call("GET", `${path}/branches/${repo.defaultBranch}`, { as: owner });
    const oid = branch.body.commit.id;

    const files = await exported(repo, owner);

    const bundle = await readText(files, "repository.bundle");
    const head = `# v2 git bundle\n${oid} HEAD\n${oid} refs/heads/${repo.defaultBranch}\n\nPACK`;
    expect(bundle.slice(0, head.length)).toBe(head);
    expect(await readJson(files, "manifest.json")).toMatchObject({
      format: "edgeforge-export",
      version: 1,
      project: { name: repo.name, defaultBranch: repo.defaultBranch, isArchived: false },
    });
  });

  it("has the wiki as a bundle of its own", async () => {
    const [repo, owner] = await makeRepo();
    const oid = await storeWiki(repo, { "Home.md": "Hi" }, "trunk");
    const files = await exported(repo, owner);
    const head = `# v2 git bundle\n${oid} HEAD\n${oid} refs/heads/trunk\n\nPACK`;
    expect((await readText(files, "wiki.bundle")).slice(0, head.length)).toBe(head);
    expect(files.has("repository.bundle")).toBe(false);
    const { project } = await readJson(files, "manifest.json");
    expect(project).toMatchObject({ wikiBranch: "trunk" });
  });

  it("has no bundle of a repository without commits", async () => {
    const [repo, owner] = await makeRepo();
    const files = await exported(repo, owner);
    expect([...files.keys()]).toEqual([
      "manifest.json",
      ...["labels", "milestones", "issues", "pulls", "comments", "reviews", "releases"].map(
        (kind) => `${kind}/000001.json`,
      ),
    ]);
    expect(await readJson(files, "issues/000001.json")).toEqual([]);
  });

  it("has issues with their labels, milestone, reactions and comments", async () => {
    const [repo, owner] = await makeRepo();
    const label = await makeLabel({ repo }, { name: "kind/bug", isExclusive: true });
    const milestone = await makeMilestone(repo, { title: "1.0" });
    const issue = await makeIssue(repo, {
      milestoneId: milestone.id,
      isClosed: true,
      closedAt: 5000,
      body: "text ✓",
    });
    await attachLabel(issue, label);
    const comment = await makeComment(issue, { body: "said" });
    const migrated = await makeComment(issue, {
      posterId: null,
      originalAuthor: "far",
      originalAuthorId: 7,
    });
    await db.insert(reactions).values([
      { issueId: issue.id, userId: owner.id, content: "+1", createdAt: 1 },
      { issueId: issue.id, entryId: comment.id, userId: owner.id, content: "eyes", createdAt: 1 },
    ]);

    const files = await exported(repo, owner);

    const by = { id: owner.id, name: owner.name };
    expect(await readJson(files, "labels/000001.json")).toMatchObject([
      { foreignId: String(label.id), name: "kind/bug", isExclusive: true },
    ]);
    expect(await readJson(files, "milestones/000001.json")).toMatchObject([{ title: "1.0" }]);
    expect(await readJson(files, "issues/000001.json")).toMatchObject([
      {
        kind: "issue",
        number: issue.number,
        poster: by,
        body: "text ✓",
        labelIds: [String(label.id)],
        milestoneId: String(milestone.id),
        reactions: [{ user: by, content: "+1" }],
        isClosed: true,
        closedAt: 5000,
      },
    ]);
    expect(await readJson(files, "comments/000001.json")).toMatchObject([
      {
        foreignId: String(comment.id),
        number: issue.number,
        body: "said",
        reactions: [{ content: "eyes" }],
      },
      { foreignId: String(migrated.id), poster: { id: 7, name: "far" } },
    ]);
  });

  it("has labels of its organization that issues have, and no others", async () => {
    const owner = await make.user();
    const org = await make.org([owner]);
    const repo = await make.repo(org);
    const used = await makeLabel({ org }, { name: "used" });
    await makeLabel({ org }, { name: "unused" });
    await attachLabel(await makeIssue(repo), used);

    const files = await exported(repo, owner);

    expect(await readJson(files, "labels/000001.json")).toMatchObject([{ name: "used" }]);
    expect(await readJson(files, "issues/000001.json")).toMatchObject([
      { labelIds: [String(used.id)] },
    ]);
  });

  it("has long texts in several files", async () => {
    const [repo, owner] = await makeRepo();
    const bodies = ["a", "b", "c"].map((letter) => letter.repeat(900_000));
    for (const body of bodies) await makeIssue(repo, { body });

    const files = await exported(repo, owner);

    const pages = [1, 2].map((page) => readJson(files, `issues/00000${page}.json`));
    const items = (await Promise.all(pages)) as { body: string }[][];
    expect(items.map((page) => page.map(({ body }) => body[0]))).toEqual([["a", "b"], ["c"]]);
    expect(files.has("issues/000003.json")).toBe(false);
  });

  it("has pull requests with their reviews, and no pending ones", async () => {
    const [repo, owner] = await makeRepo();
    const pull = await makePull(repo, { baseBranch: "main", headBranch: "topic" });
    const review = await makeReview(pull, { body: "fine" });
    const code = await makeCodeComment(pull, review, {});
    await makeReview(pull, { state: "pending", body: "secret thoughts" });

    const files = await exported(repo, owner);

    expect(await readJson(files, "pulls/000001.json")).toMatchObject([
      {
        kind: "pull",
        number: pull.number,
        head: { branch: "topic", repository: `${repo.owner}/${repo.name}`.toLowerCase() },
        base: { branch: "main" },
        headRef: `refs/pull/${pull.number}/head`,
        mergedAt: null,
      },
    ]);
    expect(await readJson(files, "reviews/000001.json")).toMatchObject([
      { body: "fine", state: "approved", comments: [{ foreignId: String(code.id) }] },
    ]);
    expect(await readText(files, "reviews/000001.json")).not.toContain("secret thoughts");
  });

  // A pull request does not open the repository of its head to everybody who may read it.
  it("names the repository of a head only if the caller may see it", async () => {
    const [repo, owner] = await makeRepo();
    const contributor = await make.user();
    const shown = await make.repo(contributor);
    const hidden = await make.repo(contributor, { isPrivate: true });
    for (const { id: headRepoId } of [shown, hidden]) await makePull(repo, { headRepoId });

    const [files, ofAdmin] = [
      await exported(repo, owner),
      await exported(repo, await make.admin()),
    ];

    const heads = async (of: typeof files) =>
      (await readJson(of, "pulls/000001.json")).map(
        ({ head }: { head: { repository: string } }) => head.repository,
      );
    const path = ({ owner: name, name: repoName }: TestRepo) => `${name}/${repoName}`.toLowerCase();
    expect(await heads(files)).toEqual([path(shown), ""]);
    expect(await heads(ofAdmin)).toEqual([path(shown), path(hidden)]);
  });

  it("has all pages of many issues, each once", async () => {
    const [repo, owner] = await makeRepo();
    for (let count = 0; count < 205; count++) await makeIssue(repo, { number: count + 1 });

    const files = await exported(repo, owner);

    const pages = [1, 2, 3].map((page) => readJson(files, `issues/00000${page}.json`));
    const numbers = (await Promise.all(pages)).flat().map(({ number }) => number);
    expect(numbers).toEqual(Array.from({ length: 205 }, (_, at) => at + 1));
    expect(files.has("issues/000004.json")).toBe(false);
  });

  it("is for administrators", async () => {
    const [repo] = await makeRepo();
    const writer = await make.user();
    await make.collaborator(repo, writer, 2);
    const path = `/repos/${repo.owner}/${repo.name}/export`;
    expect((await call("GET", path, { as: writer })).status).toBe(403);
    expect([401, 403]).toContain((await call("GET", path)).status);
  });
});
