import { expect } from "vitest";

import { reactions } from "../../src/db/schema/index.ts";
import { call } from "./call.ts";
import { History } from "./commits.ts";
import { db } from "./db.ts";
import { attachLabel, makeComment, makeIssue, makeLabel, makeMilestone } from "./issues.ts";
import { makeLargeFile, pointerTo, upload } from "./large-files.ts";
import { make } from "./make.ts";
import { makeCodeComment, makePull, makeReview } from "./pulls.ts";
import { storeRefs } from "./push.ts";
import { makeRelease } from "./releases.ts";
import { storeWiki } from "./wikis.ts";

/** A repository of this service with something of everything that an export has. */
export async function makeWholeRepository() {
  const owner = await make.user();
  const reviewer = await make.user();
  const repo = await make.repo(owner);
  const path = `/repos/${repo.owner}/${repo.name}`;
  const large = makeLargeFile("a large file");

  const history = new History();
  const root = history.commit({ files: { a: "1\n2\n3\n", "b.bin": pointerTo(large) } });
  const merged = history.commit({ files: { a: "1\n2\n3\n4\n" }, parents: [root] });
  const squash = history.commit({ files: { a: "1\n2\n3\n4\n" }, parents: [root], message: "S\n" });
  const base = history.commit({ files: { a: "0\n" }, parents: [squash] });
  const head = history.commit({ files: { a: "0\n1\n" }, parents: [squash] });
  const topic = history.commit({ files: { t: "t\n" }, parents: [base] });
  const tag = history.tag(root, "v1");

  await storeWiki(repo, { "Home.md": "# Garden\n", "images/a.png": "png" }, "pages");

  const bug = await makeLabel({ repo }, { name: "kind/bug", isExclusive: true, description: "✓" });
  const old = await makeLabel({ repo }, { name: "old", archivedAt: 5000 });
  const milestone = await makeMilestone(repo, {
    title: "1.0",
    description: "Soon",
    deadlineAt: 9e11,
  });
  await makeMilestone(repo, { title: "0.9", isClosed: true, closedAt: 4000 });
  const issue = await makeIssue(repo, {
    title: "First",
    body: "text ✓ #2",
    milestoneId: milestone.id,
    isClosed: true,
    closedAt: 5000,
    ref: "refs/heads/main",
    pinOrder: 1,
    timeEstimateSeconds: 3600,
    deadlineAt: 8e11,
    updatedAt: 6000,
  });
  await attachLabel(issue, bug, old);
  const locked = await makeIssue(repo, { isLocked: true, pinOrder: 2 });
  await makeIssue(repo, { posterId: null, originalAuthor: "far", originalAuthorId: 7 });
  const comment = await makeComment(issue, { body: "said", updatedAt: 7000 });
  await makeComment(locked, { posterId: reviewer.id });
  await db.insert(reactions).values([
    { issueId: issue.id, userId: owner.id, content: "+1", createdAt: 1 },
    { issueId: issue.id, entryId: comment.id, userId: owner.id, content: "eyes", createdAt: 1 },
  ]);
  const open = await makePull(
    repo,
    { headBranch: "topic", headOid: head, mergeBaseOid: squash, allowMaintainerEdit: true },
    { title: "WIP: a topic", pinOrder: 1 },
  );
  await attachLabel(open, bug);
  const done = await makePull(
    repo,
    {
      headBranch: "gone",
      headOid: merged,
      mergeBaseOid: root,
      mergedAt: 3000,
      mergerId: owner.id,
      mergeCommitOid: squash,
      mergedBaseOid: root,
      mergeKind: "squash",
    },
    { isClosed: true, closedAt: 3000 },
  );
  const pushed = await makePull(repo, {
    flow: "agit",
    headBranch: `${reviewer.name}/fix/it`,
    headOid: topic,
    mergeBaseOid: base,
  });
  const review = await makeReview(open, {
    reviewerId: reviewer.id,
    body: "fine",
    isOfficial: true,
    updatedAt: 2000,
  });
  const dismissed = {
    state: "request_changes",
    isDismissed: true,
    reviewerId: reviewer.id,
  } as const;
  await makeReview(open, dismissed);
  const first = await makeCodeComment(open, review, {
    path: "a",
    line: 2,
    startLine: 1,
    originalLine: 5,
    originalCommitOid: squash,
    resolvedAt: 8000,
    resolverId: owner.id,
  });
  await makeCodeComment(open, review, { path: "a", rootId: first.id }, { updatedAt: 3000 });
  await makeCodeComment(open, review, { path: "a", isOutdated: true, commitOid: squash, line: 3 });
  await storeRefs(
    repo,
    [
      { ref: "refs/heads/main", oid: base },
      { ref: "refs/heads/topic", oid: head },
      { ref: "refs/tags/v1", oid: tag },
      { ref: `refs/pull/${open.number}/head`, oid: head },
      { ref: `refs/pull/${done.number}/head`, oid: merged },
      { ref: `refs/pull/${pushed.number}/head`, oid: topic },
    ],
    history.build(),
  );
  await upload(owner, repo, large);
  const release = await makeRelease(repo, { tagName: "v1", body: "One", publishedAt: 2000 });
  await makeRelease(repo, { tagName: "v2", isDraft: true, isPrerelease: true, createdAt: 1500 });
  for (const [name, content] of [
    ["a.txt", "hello"],
    ["empty.txt", ""],
  ] as const) {
    const body = new FormData();
    body.append("attachment", new File([content], name));
    const { status } = await call("POST", `${path}/releases/${release.id}/assets`, {
      as: owner,
      body,
    });
    expect(status).toBe(201);
  }
  await call("PUT", `${path}/topics`, { as: owner, json: { topics: ["plants", "soil"] } });
  await call("PATCH", path, {
    as: owner,
    json: { description: "A garden 🌱", website: "https://garden.example/", archived: true },
  });
  return { owner, reviewer, repo, large };
}
