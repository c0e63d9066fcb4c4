import { describe, expect, it } from "vitest";

import { openZip, type ZipFile } from "../../../src/lib/zip.ts";
import { sourceOfBytes } from "../../../src/lib/archive-source.ts";
import { reactions } from "../../../src/db/schema/index.ts";
import { answer, call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import {
  attachLabel,
  makeComment,
  makeIssue,
  makeLabel,
  makeMilestone,
} from "../../support/issues.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";
import { makeCodeComment, makePull, makeReview } from "../../support/pulls.ts";

const JSON_MAX = 10_000_000;

/** Exports a repository, and reads the archive with a strict reader. */
async function exported(repo: TestRepo, as: TestUser): Promise<Map<string, ZipFile>> {
  const request = new Request(
    `https://forge.example/api/v1/repos/${repo.owner}/${repo.name}/export`,
    {
      headers: { Authorization: `token ${as.token}` },
    },
  );
  const response = await answer(request);
  expect(response.status).toBe(200);
  expect(response.headers.get("Content-Type")).toBe("application/zip");
  expect(response.headers.get("Content-Disposition")).toContain(`${repo.owner}-${repo.name}.zip`);
  const files = await openZip(sourceOfBytes(new Uint8Array(await response.arrayBuffer())));
  return new Map(files.map((file) => [file.path, file]));
}

const read = async (files: Map<string, ZipFile>, path: string): Promise<string> =>
  new TextDecoder().decode(await files.get(path)?.read(JSON_MAX));
const json = async (files: Map<string, ZipFile>, path: string) =>
  JSON.parse(await read(files, path));

async function makeRepo(): Promise<[TestRepo, TestUser]> {
  const owner = await make.user();
  return [await make.repo(owner), owner];
}

describe("GET /repos/{owner}/{repo}/export", () => {
  it("has git as a bundle, and what the repository says of itself", async () => {
    const [repo, owner] = await makeRepo();
    const path = `/repos/${repo.owner}/${repo.name}`;
    await call("POST", `${path}/contents/a.txt`, { as: owner, json: { content: btoa("a") } });
    const branch = await call("GET", `${path}/branches/${repo.defaultBranch}`, { as: owner });
    const oid = branch.body.commit.id;

    const files = await exported(repo, owner);

    const bundle = await read(files, "repository.bundle");
    const head = `# v2 git bundle\n${oid} HEAD\n${oid} refs/heads/${repo.defaultBranch}\n\nPACK`;
    expect(bundle.slice(0, head.length)).toBe(head);
    expect(await json(files, "manifest.json")).toMatchObject({
      format: "edgeforge-export",
      version: 1,
      project: { name: repo.name, defaultBranch: repo.defaultBranch, isArchived: false },
    });
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
    expect(await json(files, "issues/000001.json")).toEqual([]);
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
    expect(await json(files, "labels/000001.json")).toMatchObject([
      { foreignId: String(label.id), name: "kind/bug", isExclusive: true },
    ]);
    expect(await json(files, "milestones/000001.json")).toMatchObject([{ title: "1.0" }]);
    expect(await json(files, "issues/000001.json")).toMatchObject([
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
    expect(await json(files, "comments/000001.json")).toMatchObject([
      {
        foreignId: String(comment.id),
        number: issue.number,
        body: "said",
        reactions: [{ content: "eyes" }],
      },
      { foreignId: String(migrated.id), poster: { id: 7, name: "far" } },
    ]);
  });

  it("has pull requests with their reviews, and no pending ones", async () => {
    const [repo, owner] = await makeRepo();
    const pull = await makePull(repo, { baseBranch: "main", headBranch: "topic" });
    const review = await makeReview(pull, { body: "fine" });
    const code = await makeCodeComment(pull, review, {});
    await makeReview(pull, { state: "pending", body: "secret thoughts" });

    const files = await exported(repo, owner);

    expect(await json(files, "pulls/000001.json")).toMatchObject([
      {
        kind: "pull",
        number: pull.number,
        head: { branch: "topic", repository: `${repo.owner}/${repo.name}`.toLowerCase() },
        base: { branch: "main" },
        headRef: `refs/pull/${pull.number}/head`,
        mergedAt: null,
      },
    ]);
    expect(await json(files, "reviews/000001.json")).toMatchObject([
      { body: "fine", state: "approved", comments: [{ foreignId: String(code.id) }] },
    ]);
    expect(await read(files, "reviews/000001.json")).not.toContain("secret thoughts");
  });

  it("has all pages of many issues, each once", async () => {
    const [repo, owner] = await makeRepo();
    for (let count = 0; count < 205; count++) await makeIssue(repo, { number: count + 1 });

    const files = await exported(repo, owner);

    const pages = [1, 2, 3].map((page) => json(files, `issues/00000${page}.json`));
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
